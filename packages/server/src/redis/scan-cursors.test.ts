// Cursors of SCAN: places that are remembered, forgotten, foreign or made up.
import { redisCursorsMax } from '@ringwright/base/limits';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { ScanCursors } from './scan-cursors.ts';

const at = Uint8Array.from(Buffer.from('key'));
const nothing = new Uint8Array();
const ring = (partitioner: Partitioner, partitions = 4) => ({
  ...{ keyspace: 'notes', partitions },
  partitioner,
});
const mod = ring({ kind: 'murmur3-mod', partitions: 4, seed: 0 });
const circle = { kind: 'hash-intervals', hash: 'md5', partitions: 4 } as const;
const quarter = 2 ** 30;
const notes = ring(circle);
/** Partition 3, the hashes behind .5, was split at .625. */
const ends = [0, quarter, 2 * quarter, 2 * quarter + quarter / 2, 3 * quarter];
const split = ring({ ...circle, partitions: 6, ends, ids: [0, 1, 2, 4, 5] }, 6);

const third = { partition: 3, arc: { start: 2 * quarter, end: 3 * quarter }, cut: 0 };
const shapes = [
  ['hashes on a circle', notes, third],
  ['numbered partitions', mod, { partition: 3 }],
] as const;

test('0 is the beginning, and the end', () => {
  const cursors = new ScanCursors(1);
  expect(cursors.read(0, mod)).toEqual({ partition: 0, at: nothing });
  expect(cursors.read(0, notes)).toMatchObject({ arc: { start: 0, end: quarter }, cut: 0 });
  expect(cursors.write(null, notes)).toBe(0);
});

test.each(shapes)('%s: a place is found again, by its keyspace only', (_, ring, place) => {
  const cursors = new ScanCursors(5);
  const cursor = cursors.write({ ...place, at }, ring);
  expect(cursors.read(cursor, ring)).toEqual({ ...place, at });
  const other = { ...ring, keyspace: 'other' };
  expect(cursors.read(cursor, other)).toEqual({ ...place, at: nothing });
});

test.each(shapes)(
  '%s: a forgotten place, or one of another life, begins again',
  (_, ring, place) => {
    const cursors = new ScanCursors(5);
    const first = cursors.write({ ...place, at }, ring);
    expect(new ScanCursors(9).read(first, ring)).toEqual({ ...place, at: nothing });
    for (let more = 0; more < redisCursorsMax; more += 1) cursors.write({ partition: 1, at }, ring);
    expect(cursors.read(first, ring)).toEqual({ ...place, at: nothing });
  },
);

test.each(shapes)('%s: a start is the same number everywhere', (_, ring, place) => {
  const [one, two] = [new ScanCursors(1), new ScanCursors(2 ** 30)];
  const start = { ...place, at: nothing };
  expect(one.write(start, ring)).toBe(two.write(start, ring));
});

test.each([-1, 0.5, 2 ** 53, 2 ** 52, Number.NaN])('%d is no cursor', (number) => {
  expect(new ScanCursors(1).read(number, mod)).toBeNull();
  expect(new ScanCursors(1).read(number, notes)).toBeNull();
});

test.each(shapes)('%s: places are numbered anew after the last one, never 0', (_, ring, place) => {
  for (const first of [2 ** 19 - 1, 2 ** 28 - 1]) {
    const cursors = new ScanCursors(first);
    const cursor = cursors.write({ ...place, at }, ring);
    expect(cursor).toBeGreaterThan(0);
    expect(cursors.read(cursor, ring)).toEqual({ ...place, at });
  }
});

test('what was split means the same: remembered its arc, else all behind its start', () => {
  const cursors = new ScanCursors(5);
  const start = cursors.write({ ...third, at: nothing }, notes);
  const half = { start: 2 * quarter, end: 2 * quarter + quarter / 2 };
  expect(cursors.read(start, split)).toEqual({ ...third, at: nothing, partition: 4, arc: half });
  const middle = cursors.write({ ...third, at }, notes);
  expect(cursors.read(middle, split)).toEqual({ ...third, at });
});
