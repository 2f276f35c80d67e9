// The command line of a server: which options it yields, and what is refused.
import { wordsOf } from '@ringwright/server/option-flags';
import { expect, test } from 'vitest';
import { parseOptions } from './parse-options.ts';

const given = (...names: string[]): Promise<readonly string[]> =>
  parseOptions(['--data', '/x', ...names.flatMap((name) => ['--allow-host', name])]).then(
    ({ allowHost }) => allowHost,
  );

test('--allow-host may be absent or be given several times', async () => {
  expect(await given()).toEqual([]);
  expect(await given('sd1.example', '.rw.example')).toEqual(['sd1.example', '.rw.example']);
});

test.each(['*', 'http://sd1.example', 'sd1.example:6200', '', '..', 'a b'])(
  "the host name '%s' is refused",
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

test('the error about an unknown word names it and the known ones', async () => {
  const known = 'check, inspect, or just options to start a server';
  for (const words of [['frob'], ['frob', '--data', '/x']]) {
    const message = `unknown word frob; ring-server takes ${known}`;
    await expect(parseOptions(words)).rejects.toMatchObject({ code: 'USAGE', message });
  }
});

test('an unknown log level is refused with the known ones', async () => {
  await expect(parseOptions(['--data', '/x', '--log-level', 'loud'])).rejects.toMatchObject({
    message: '--log-level "loud": wanted one of silent, error, warn, info, debug',
  });
});

test('a size may have a unit or be in bytes', async () => {
  const sizes = ['--copy-rate', '50MB/s', '--trash-bytes', '1.5GiB'];
  expect(await parseOptions(['--data', '/x', ...sizes])).toMatchObject({
    copyRate: 50e6,
    trashBytes: 1.5 * 2 ** 30,
  });
  const bytes = await parseOptions(['--data', '/x', '--copy-rate', '262144']);
  expect(bytes.copyRate).toBe(262_144);
  const linearizable = ['--redis-consistency', 'linearizable'];
  expect(await parseOptions(['--data', '/x', ...linearizable])).toMatchObject({
    redisConsistency: 'linearizable',
  });
});

test.each([
  ['--copy-rate 100000', '--copy-rate 100000: wanted 256KiB/s or more'],
  ['--copy-rate fast', '--copy-rate fast: wanted a size, such as 50MB, 1GiB or 800000'],
  ['--trash-bytes lots', '--trash-bytes lots: wanted a size, such as 50MB, 1GiB or 800000'],
  ['--trash-hours -1', '--trash-hours -1: expected 0 or more'],
  ['--trash-hours x', '--trash-hours x: wanted a number'],
  ['--redis-port 70000', '--redis-port 70000: expected at most 65535'],
  ['--redis-keyspace NO', '--redis-keyspace NO: wanted the name of a ring'],
  ['--listen here:x', '--listen here:x: wanted IP:PORT, such as 10.0.0.1:6200'],
  ['--advertise 10.0.0.1:70000', 'such as 10.0.0.1:6200, with a port up to 65535'],
  ['--listen 0.0.0.0:6200', '--listen 0.0.0.0:6200: needs --advertise IP:PORT too'],
  ['--listen [::0]:6200', 'needs --advertise IP:PORT too'],
  ['--listen [0:0:0:0:0:0:0:0]:6200', 'needs --advertise IP:PORT too'],
  ['--listen [::FFFF:0.0.0.0]:6200', 'needs --advertise IP:PORT too'],
  ['--allow-host a:b', '--allow-host a:b: is not a host name, such as sd1.example or .example'],
])('%s is refused with a sentence that names the option', async (args, message) => {
  await expect(parseOptions(['--data', '/x', ...args.split(' ')])).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining(message),
  });
});

test('parsed options convert back to the same words', async () => {
  const words = [
    ...['--data', '/srv/a b', '--mount-check', '--listen', '10.0.0.1:6200', '--allow-host', 'a.b'],
    ...['--allow-host', '.c', '--tls', 'own', '--device', 'sd1', '--redis-port', '6390'],
    ...['--redis-consistency', 'one', '--trust', 't.json', '--copy-rate', '50000000'],
    ...['--trash-hours', '0.5', '--store-ca', '/ca.pem', '--store-password-file', '/word'],
  ];
  expect(wordsOf(await parseOptions(words))).toEqual(words);
  expect(wordsOf(await parseOptions(['--data', '/x']))).toEqual(['--data', '/x']);
});
