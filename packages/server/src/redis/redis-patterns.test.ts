// Attack: patterns that any client may send to SCAN and CONFIG GET, over a simulated device.
import { patternBytesMax, redisArgumentsMax, redisScanCountMax } from '@ringwright/base/limits';
import { workTurnMsMax } from '@ringwright/base/limits-listeners';
import { packPage } from '@ringwright/wire/listing';
import { expect, test, vi } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { turnsOf } from '../../../../test/support/turns-of.ts';
import { RingRequests } from '../rings/ring-requests.ts';
import type { RedisCall } from './redis-command.ts';
import { findCommand } from './redis-commands.ts';
import { ScanCursors } from './scan-cursors.ts';

const active = activeOn(servedRing({ replicas: 1, devices: 1, power: 0 }), 0);
let pagesAsked = 0;

/** Answers with a full page at once, like a partition on the server itself. */
const devices = {
  call: (_to: unknown, _kind: unknown, { limit }: { limit: number }) => {
    pagesAsked += 1;
    const keyOf = (index: number): Buffer => Buffer.from(`key-${index % 10}-${pagesAsked}`);
    const rows = Array.from({ length: limit }, (_, index) => ({
      partition: 0,
      key: Buffer.concat([keyOf(index), Buffer.from(String(index).padStart(5, '0'))]),
      value: new Uint8Array(),
      ...{ ms: 1, tie: 0 },
    }));
    return { rows: packPage(rows), gone: 0, digest: '0'.repeat(16), next: Buffer.from('key-9') };
  },
};

function run(...texts: readonly string[]): unknown {
  pagesAsked = 0;
  const request = texts.map((text) => Buffer.from(text));
  const rings = { get: () => active, list: () => [active] };
  const clock = { nowMs: () => 0, machineMs: () => 0 };
  const coordinator = { rings, devices, clock, requests: new RingRequests() };
  const ports = { coordinator, cursors: new ScanCursors(), about: { keyspace: 'cities' } };
  const call = { ports, client: {}, args: request.slice(1), keyspace: null, consistency: 'one' };
  return findCommand(request).command.run!(call as unknown as RedisCall);
}

const tooLarge = expect.objectContaining({ code: 'PATTERN_TOO_LARGE' });
const longPattern = 'a'.repeat(patternBytesMax + 1);

test('a pattern longer than any key is refused before a key is read', async () => {
  await expect(run('SCAN', '0', 'MATCH', longPattern)).rejects.toEqual(tooLarge);
  expect(pagesAsked).toBe(0);
});

test('classes that would need gigabytes are refused, in one pattern or in many', () => {
  const classes = '[a-z]'.repeat(200_000);
  expect(() => run('CONFIG', 'GET', classes)).toThrow(tooLarge);
  const many = Array.from({ length: redisArgumentsMax - 2 }, () => '[a-z]'.repeat(70));
  expect(() => run('CONFIG', 'GET', ...many)).toThrow(tooLarge);
  expect(run('CONFIG', 'GET', 'append*', 'sa[v]e')).toMatchObject({
    pairs: [['appendonly'], ['appendfsync'], ['save']].map(([name]) => [name, expect.anything()]),
  });
});

test('only the last of many patterns in one scan is compiled', async () => {
  const long = Array.from({ length: 1_000 }, () => ['MATCH', longPattern]).flat();
  const reply = await run('SCAN', '0', 'COUNT', '100', ...long, 'MATCH', 'key-7-*');
  expect(reply).toMatchObject({ items: [expect.anything(), { items: { length: 10 } }] });
});

test('others have their turn while a scan compares many keys', async () => {
  // A page takes a whole turn by this clock: a fast machine compares all ten within one.
  vi.spyOn(performance, 'now').mockImplementation(() => pagesAsked * workTurnMsMax);
  const scan = ['SCAN', '0', 'COUNT', String(redisScanCountMax), 'MATCH', 'key-7-*'];
  const turns = await turnsOf(async () => void (await run(...scan)));
  vi.restoreAllMocks();
  expect(pagesAsked).toBe(10);
  expect(turns).toBeGreaterThanOrEqual(pagesAsked);
});
