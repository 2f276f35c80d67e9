// Cursors of SCAN: places that are remembered, forgotten, foreign or made up.
import { redisCursorsMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { ScanCursors } from './scan-cursors.ts';

const at = Buffer.from('key');
const nothing = new Uint8Array();
const partitioner = { kind: 'hash-intervals', hash: 'md5', partitions: 4 } as const;
const notes = { keyspace: 'notes', partitions: 4, partitioner };
/** Partition 3 was split. */
const ends = [0, 2 ** 30, 2 ** 31, 2 ** 31 + 2 ** 29, 3 * 2 ** 30];
const split = {
  keyspace: 'notes',
  partitions: 6,
  partitioner: { ...partitioner, partitions: 6, ends, ids: [0, 1, 2, 4, 5] },
};

test('0 is the first partition, and the end', () => {
  const cursors = new ScanCursors(1);
  expect(cursors.read(0, notes)).toEqual({ partition: 0, at: nothing });
  expect(cursors.write(null, notes)).toBe(0);
});

test('a place is found again, by its keyspace only', () => {
  const cursors = new ScanCursors(5);
  const cursor = cursors.write({ partition: 3, at }, notes);
  expect(cursors.read(cursor, notes)?.at).toEqual(new Uint8Array(at));
  expect(cursors.read(cursor, { ...notes, keyspace: 'other' })).toEqual({
    partition: 3,
    at: nothing,
  });
});

test('a place of another life or one forgotten begins its partition again', () => {
  const cursors = new ScanCursors(5);
  const first = cursors.write({ partition: 3, at }, notes);
  expect(new ScanCursors(9).read(first, notes)).toEqual({ partition: 3, at: nothing });
  for (let more = 0; more < redisCursorsMax; more += 1) {
    cursors.write({ partition: 1, at }, notes);
  }
  expect(cursors.read(first, notes)).toEqual({ partition: 3, at: nothing });
});

test('the start of a partition is the same number everywhere', () => {
  const place = { partition: 2, at: nothing };
  const [one, two] = [new ScanCursors(1), new ScanCursors(2 ** 30)];
  expect(one.write(place, notes)).toBe(two.write(place, notes));
});

test.each([-1, 0.5, 2 ** 53, 4 * 2 ** 28, Number.NaN])('%d is no cursor', (number) => {
  expect(new ScanCursors(1).read(number, notes)).toBeNull();
});

test('places are numbered anew after the last one, never 0', () => {
  const cursors = new ScanCursors(2 ** 28 - 1);
  const cursor = cursors.write({ partition: 0, at }, notes);
  expect(cursor).toBeGreaterThan(0);
  expect(cursors.read(cursor, notes)?.at).toEqual(new Uint8Array(at));
});

test('what is not remembered is refused where the order of hashes may have changed', () => {
  const cursors = new ScanCursors(5);
  const start = cursors.write({ partition: 2, at: nothing }, notes);
  expect(cursors.read(start, notes)).toEqual({ partition: 2, at: nothing });
  expect(cursors.read(start, split)).toBeNull();
  const cursor = cursors.write({ partition: 2, at: nothing, cut: 7 }, split);
  expect(cursors.read(cursor, split)).toEqual({ partition: 2, at: nothing, cut: 7 });
  expect(new ScanCursors(9).read(cursor, split)).toBeNull();
});
