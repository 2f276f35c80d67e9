// The command line of a server: what becomes of it, and what is refused.
import { expect, test } from 'vitest';
import { parseOptions } from './parse-options.ts';

const given = (...names: string[]): Promise<readonly string[]> =>
  parseOptions(['--data', '/x', ...names.flatMap((name) => ['--allow-host', name])]).then(
    ({ allowHost }) => allowHost,
  );

test('names that a server may be called by, one or several', async () => {
  expect(await given()).toEqual([]);
  expect(await given('sd1.example', '.rw.example')).toEqual(['sd1.example', '.rw.example']);
});

test.each(['*', 'http://sd1.example', 'sd1.example:6200', '', '..', 'a b'])(
  "a name '%s' is refused",
  async (name) => {
    await expect(given(name)).rejects.toMatchObject({ code: 'USAGE' });
  },
);

test.each([
  'data',
  'listen',
  'advertise',
  'device',
  'rings',
  'ring',
  'store',
  'trust',
  'allow-host',
  'copy-rate',
  'trash-hours',
  'log-level',
])('--%s without a value is wrong usage', async (name) => {
  const parsing = parseOptions(['--data', '/x', `--${name}`]);
  const message = `--${name} needs a value`;
  await expect(parsing).rejects.toMatchObject({ code: 'USAGE', message });
});

test('a level of the log that is none is told in one line', async () => {
  await expect(parseOptions(['--data', '/x', '--log-level', 'loud'])).rejects.toMatchObject({
    message: '--log-level "loud": wanted one of silent, error, warn, info, debug',
  });
});
