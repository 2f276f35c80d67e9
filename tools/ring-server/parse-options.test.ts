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
