// SCAN with calls at any server, over simulated devices: it ends, and returns every key.
import { byteText } from '@ringwright/base/as-buffer';
import { positionAfterKey } from '@ringwright/base/key-bounds';
import { keyBytesMax, redisAnswerBytesMax } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { packPage } from '@ringwright/wire/listing';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { RingRequests } from '../rings/ring-requests.ts';
import type { RedisCall } from './redis-command.ts';
import { findCommand } from './redis-commands.ts';
import { ScanCursors } from './scan-cursors.ts';

interface PageAsked {
  readonly partition: number;
  readonly from: Uint8Array;
  readonly to: Uint8Array | null;
  readonly limit: number;
}

type Scan = (
  cursors: ScanCursors,
  words: readonly string[],
) => Promise<{ readonly cursor: string; readonly keys: readonly string[] }>;

const nothing = new Uint8Array();

/** Returns a SCAN of these keys under a partitioner, at the server that has the cursors. */
function scanUnder(partitioner: Partitioner, names: ReadonlySet<string>): Scan {
  const active = activeOn(servedRing({ replicas: 1, devices: 1, partitioner }), 0);
  const partitionOf = partitionerOf(partitioner);
  const sorted = [...names].map((name) => Buffer.from(name)).sort((a, b) => Buffer.compare(a, b));
  const rowsOf = Map.groupBy(
    sorted.map((key) => ({ partition: partitionOf(key), key, value: nothing, ms: 1, tie: 0 })),
    ({ partition }) => partition,
  );
  const pageOf = ({ partition, from, to, limit }: PageAsked) => {
    const rows = (rowsOf.get(partition) ?? []).filter(
      ({ key }) => Buffer.compare(key, from) >= 0 && (to === null || Buffer.compare(key, to) < 0),
    );
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    const next = rows.length > limit && last ? positionAfterKey(last.key, false) : null;
    return { rows: packPage(page), gone: 0, digest: '0'.repeat(16), next };
  };
  const rings = { get: () => active, list: () => [active] };
  const clock = { nowMs: () => 0, machineMs: () => 0 };
  const devices = { call: (_to: unknown, _kind: unknown, page: PageAsked) => pageOf(page) };
  const coordinator = { rings, devices, clock, requests: new RingRequests() };
  return async (cursors, words) => {
    const ports = { coordinator, cursors, about: { keyspace: 'cities' } };
    const args = words.map((word) => Buffer.from(word));
    const call = { ports, client: {}, args, keyspace: null, consistency: 'one' };
    const { command } = findCommand([Buffer.from('SCAN'), ...args]);
    const reply = await command.run!(call as unknown as RedisCall);
    const texts: string[] = [];
    const collect = (item: typeof reply): void => {
      if (item.kind === 'array') for (const one of item.items) collect(one);
      else if (item.kind === 'bulk') texts.push(byteText(item.bytes));
    };
    collect(reply);
    const [cursor = '', ...keys] = texts;
    return { cursor, keys };
  };
}

const circle = { kind: 'hash-intervals', hash: 'md5' } as const;
const [quarter, eighth] = [2 ** 30, 2 ** 29];
/** The same circle, with partitions split and merged. Each call may see any of these. */
const circles: readonly Partitioner[] = [
  {
    ...circle,
    partitions: 3,
    ends: [7 * eighth, quarter, 5 * eighth + 12_345].sort((a, b) => a - b),
  },
  { ...circle, partitions: 4, ends: [1_000, quarter, quarter + 1_000, 7 * eighth] },
  { ...circle, partitions: 1, ends: [quarter] },
];
const shapes: readonly (readonly [string, readonly Partitioner[]])[] = [
  ['arcs of equal length', [{ kind: 'md5-shift', power: 3, prefix: '', suffix: '' }]],
  ['arcs of any length, split and merged at every call', circles],
  ['partitions by number', [{ kind: 'murmur3-mod', partitions: 5, seed: 0 }]],
  ['ranges', [{ kind: 'ranges', partitions: 3, starts: ['key1', 'key4'] }]],
];

/** Returns the keys of a scan, each call at one of two servers that sometimes forget cursors. */
async function scanAnywhere(scans: readonly Scan[], random: Random): Promise<Set<string>> {
  const servers = [new ScanCursors(), new ScanCursors()];
  const given = new Set<string>();
  let cursor = '0';
  for (let calls = 0; calls === 0 || cursor !== '0'; calls += 1) {
    expect(calls, 'number of calls of the scan').toBeLessThan(2_000);
    if (random.below(10) === 0) servers[random.below(2)] = new ScanCursors();
    const at = servers[random.below(2)]!;
    const count = String(1 + random.below(9));
    const answer = await scans[random.below(scans.length)]!(at, [cursor, 'COUNT', count]);
    for (const key of answer.keys) given.add(key);
    cursor = answer.cursor;
  }
  return given;
}

test.each(shapes)('%s: a scan at random servers returns every key', async (_, partitioners) => {
  for (let seed = 0; seed < 20; seed += 1) {
    const random = seededRandom(seed);
    const names = new Set(Array.from({ length: 120 }, (_, index) => `key${index}`));
    const scans = partitioners.map((partitioner) => scanUnder(partitioner, names));
    const given = await scanAnywhere(scans, random);
    expect([...given].sort(), `seed ${seed}`).toEqual([...names].sort());
  }
});

test.each(shapes)('%s: a scan at alternating servers gets every key', async (_, [partitioner]) => {
  const names = new Set(Array.from({ length: 300 }, (_, index) => `key${index}`));
  const scan = scanUnder(partitioner!, names);
  const given = new Set<string>();
  let turn = 0;
  const servers = [new ScanCursors(), new ScanCursors()];
  for (let cursor = '0'; turn === 0 || cursor !== '0'; turn += 1) {
    expect(turn).toBeLessThan(40);
    const answer = await scan(servers[turn % 2]!, [cursor, 'COUNT', '1']);
    for (const key of answer.keys) given.add(key);
    cursor = answer.cursor;
  }
  expect(given.size).toBe(300);
});

test('an arc with more keys than one answer may hold comes in slices', async () => {
  const nameOf = (index: number): string => `${index}`.padEnd(keyBytesMax, '.');
  const count = Math.ceil((1.2 * redisAnswerBytesMax) / keyBytesMax);
  const names = new Set(Array.from({ length: count }, (_, index) => nameOf(index)));
  const partitioner = { kind: 'md5-shift', power: 0, prefix: '', suffix: '' } as const;
  const scan = scanUnder(partitioner, names);
  let { cursor, keys } = await scan(new ScanCursors(), ['0', 'COUNT', '1']);
  const given = new Set(keys);
  for (let calls = 1; cursor !== '0'; calls += 1) {
    expect(calls).toBeLessThan(20);
    ({ cursor, keys } = await scan(new ScanCursors(), [cursor, 'COUNT', '1']));
    expect(keys.length * keyBytesMax).toBeLessThan(redisAnswerBytesMax);
    for (const key of keys) given.add(key);
  }
  expect(given.size).toBe(count);
});
