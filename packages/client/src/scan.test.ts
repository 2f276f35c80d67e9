// The cursor at which a scan continues, and its end.
import { type Partitioner, partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import { type coordinateScan, packPage } from '@ringwright/wire/listing';
import type { RequestOf } from '@ringwright/wire/message';
import { expect, test } from 'vitest';
import { Client } from './client.ts';
import type { RingFollower } from './ring-follower.ts';

const keys = ['a', 'b', 'c', 'd', 'e'];
const oneRange: Partitioner = { kind: 'ranges', partitions: 1, starts: [] };

/** A client of a server with these keys, which returns at most two of them a page. */
function clientOfKeys(partitioner: Partitioner = oneRange): Client {
  const rowOf = (key: string) => ({
    key: Buffer.from(key),
    value: Buffer.from('v'),
    ms: 1,
    tie: 0,
    partition: 0,
  });
  const call = (_: unknown, { from, to, limit }: RequestOf<typeof coordinateScan>) => {
    const isBelow = (key: string) => to === null || Buffer.compare(Buffer.from(key), to) < 0;
    const left = keys.filter((key) => key >= Buffer.from(from).toString() && isBelow(key));
    const given = left.slice(0, Math.min(limit, 2));
    const next = left[given.length];
    return Promise.resolve({
      rows: packPage(given.map(rowOf)),
      next: next === undefined ? null : Buffer.from(next),
      ringVersion: 1,
    });
  };
  const follower = {
    ring: { partitioner, partitions: partitionCountOf(partitioner) },
    ask: (_: unknown, makeCall: (channel: object) => unknown) => makeCall({ call }),
  } as unknown as RingFollower;
  const settings = { keyspace: 'notes', session: null, timeoutMs: 1, smearMs: 0 };
  return new Client(follower, { ...settings, consistency: 'quorum' });
}

test.each([1, 2, 3, 5, 9])('scans with limit %i end without a cursor', async (limit) => {
  const client = clientOfKeys();
  const found: string[] = [];
  let cursor: string | null = null;
  let scans = 0;
  do {
    const scan = client.scan({ limit, cursor });
    for await (const { key } of scan) found.push(Buffer.from(key).toString());
    ({ cursor } = scan);
    scans += 1;
  } while (cursor !== null && scans <= keys.length);
  expect([found, cursor]).toEqual([keys, null]);
});

test('a scan that was left continues after the last record that it returned', async () => {
  const client = clientOfKeys();
  const scan = client.scan();
  expect(scan.cursor, 'before the first record').toBeNull();
  for await (const { key } of scan) if (Buffer.from(key).toString() === 'c') break;
  const rest = client.scan({ cursor: scan.cursor });
  expect(rest.cursor).toBe(scan.cursor);
  const found: string[] = [];
  for await (const { key } of rest) {
    found.push(Buffer.from(key).toString());
    expect(rest.cursor, 'until the end').not.toBeNull();
  }
  expect([found, rest.cursor]).toEqual([['d', 'e'], null]);
});

test.each<[string, Partitioner]>([
  ['ranges', { kind: 'ranges', partitions: 3, starts: ['c'], ids: [1, 2] }],
  ['hashes', { kind: 'hash-intervals', hash: 'md5', partitions: 3, ends: [9, 0], ids: [1, 2] }],
])('a former partition of %s is refused, not read to the end of others', (_, partitioner) => {
  const client = clientOfKeys(partitioner);
  const refusal = { code: 'VALUE_OUT_OF_RANGE', message: 'notes has no partition 0 at present' };
  expect(() => client.scan({ partition: 0 })).toThrow(expect.objectContaining(refusal));
  expect(() => client.scan({ partition: 3 })).toThrow(/is not in 0 to 2$/);
  expect(client.scan({ partition: 2 }).cursor).toBeNull();
});

const ranges: Partitioner = { kind: 'ranges', partitions: 2, starts: ['c'] };
const hashes: Partitioner = { kind: 'hash-intervals', hash: 'md5', partitions: 2, ends: [9, 0] };

test.each([ranges, hashes])('a scan of a partition refuses the cursor of another', async (kind) => {
  const client = clientOfKeys(kind);
  const cursorOf = async (partition: number): Promise<string | null> => {
    const scan = client.scan({ partition, limit: 1 });
    for await (const _ of scan);
    return scan.cursor;
  };
  const [first, second] = [await cursorOf(0), await cursorOf(1)];
  const refusal = { code: 'CURSOR_INVALID', details: { partition: 1 } };
  expect(() => client.scan({ partition: 1, cursor: first })).toThrow(
    expect.objectContaining({ ...refusal, details: expect.objectContaining(refusal.details) }),
  );
  expect(() => client.scan({ partition: 0, cursor: second })).toThrow(/of partition 0 of notes$/);
  for (const [partition, cursor] of [first, second].entries()) {
    expect(client.scan({ partition, cursor }).cursor).toBe(cursor);
  }
});

test('the cursor at the end of a range continues with none of the next range', async () => {
  const client = clientOfKeys({ ...ranges, starts: ['b%00'] });
  const scan = client.scan({ partition: 0, limit: 2 });
  for await (const _ of scan);
  expect(scan.cursor).not.toBeNull();
  const rest = client.scan({ partition: 0, cursor: scan.cursor });
  for await (const { key } of rest) expect.fail(`got ${Buffer.from(key).toString()}`);
  expect(rest.cursor).toBeNull();
});
