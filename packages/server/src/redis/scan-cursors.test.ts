// Cursors of SCAN: known, forgotten, of another server, or invented.
import { redisCursorsMax } from '@ringwright/base/limits';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { ScanPosition } from '@ringwright/ring/partitioner/scan-order';
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
/** Partition 3, the hashes from 0.5 to 0.75 of the circle, was split at 0.625. */
const ends = [0, quarter, 2 * quarter, 2 * quarter + quarter / 2, 3 * quarter];
const split = ring({ ...circle, partitions: 6, ends, ids: [0, 1, 2, 4, 5] }, 6);

const third = { partition: 3, arc: { start: 2 * quarter, end: 3 * quarter }, cut: 0 };
const shapes = [
  ['hashes on a circle', notes, third],
  ['numbered partitions', mod, { partition: 3 }],
] as const;

const start = { position: null, slice: null };
const inOrder = (position: ScanPosition) => ({ position, slice: null });

test('cursor 0 is both the beginning and the end of a scan', () => {
  const cursors = new ScanCursors();
  expect(cursors.read(0, mod)).toEqual(start);
  expect(cursors.read(0, notes)).toEqual(start);
  expect(cursors.write(start, notes)).toBe(0);
});

test.each(shapes)('%s: a cursor finds its position, for its keyspace only', (_, ring, position) => {
  const cursors = new ScanCursors();
  const cursor = cursors.write(inOrder({ ...position, at }), ring);
  expect(cursors.read(cursor, ring)).toEqual(inOrder({ ...position, at }));
  const other = { ...ring, keyspace: 'other' };
  expect(cursors.read(cursor, other)).toEqual({ position: { ...position, at: nothing }, slice: 0 });
});

test.each(shapes)('%s: a forgotten cursor means its whole stretch', (_, ring, position) => {
  const cursors = new ScanCursors();
  const first = cursors.write(inOrder({ ...position, at }), ring);
  const whole = { position: { ...position, at: nothing }, slice: 0 };
  expect(new ScanCursors().read(first, ring)).toEqual(whole);
  for (let more = 0; more < redisCursorsMax; more += 1) {
    cursors.write(inOrder({ partition: 1, at }), ring);
  }
  expect(cursors.read(first, ring)).toEqual(whole);
});

test.each(shapes)('%s: servers that start together use different numbers', (_, ring, position) => {
  const [one, two] = [new ScanCursors(), new ScanCursors()];
  const stands = inOrder({ ...position, at });
  const numbersOf = (cursors: ScanCursors): number[] =>
    Array.from({ length: 10 }, () => cursors.write(stands, ring));
  const [mine, theirs] = [numbersOf(one), numbersOf(two)];
  for (const cursor of theirs) expect(one.read(cursor, ring)).toMatchObject({ slice: 0 });
  for (const cursor of mine) expect(one.read(cursor, ring)).toEqual(stands);
});

test.each(shapes)('%s: starts and slices have one number on all servers', (_, ring, position) => {
  const [one, two] = [new ScanCursors(), new ScanCursors()];
  for (const slice of [null, 1, 31]) {
    const begun = { position: { ...position, at: nothing }, slice };
    const cursor = one.write(begun, ring);
    expect(Number.isSafeInteger(cursor)).toBe(true);
    expect(two.write(begun, ring)).toBe(cursor);
    expect(two.read(cursor, ring)).toEqual(begun);
  }
});

test.each([-1, 0.5, 2 ** 53, 2 ** 52 - 1, 2 ** 28, Number.NaN])('%d is not a cursor', (number) => {
  expect(new ScanCursors().read(number, mod)).toBeNull();
  expect(new ScanCursors().read(number, notes)).toBeNull();
});

test('after a split a known position keeps its arc, and a start means the new partition', () => {
  const cursors = new ScanCursors();
  const begun = cursors.write(inOrder({ ...third, at: nothing }), notes);
  const half = { start: 2 * quarter, end: 2 * quarter + quarter / 2 };
  const first = { ...third, at: nothing, partition: 4, arc: half };
  expect(cursors.read(begun, split)).toEqual(inOrder(first));
  const middle = cursors.write(inOrder({ ...third, at }), notes);
  expect(cursors.read(middle, split)).toEqual(inOrder({ ...third, at }));
});

test('a stretch whose slices have been returned in part keeps its end after a merge', () => {
  const arc = { start: 2 * quarter, end: 2 * quarter + quarter / 2 };
  const begun = { position: { ...third, at: nothing, partition: 4, arc }, slice: 7 };
  const cursor = new ScanCursors().write(begun, split);
  expect(new ScanCursors().read(cursor, notes)).toMatchObject({ position: { arc }, slice: 7 });
});

test('in a partition smaller than a cell, a forgotten cursor means the whole cell', () => {
  const ends = [0, 1000, 1001, 1002, quarter, 3 * quarter];
  const tiny = ring({ ...circle, partitions: 6, ends }, 6);
  const stands = { partition: 3, arc: { start: 1001, end: 1002 }, cut: 0, at };
  const cursor = new ScanCursors().write(inOrder(stands), tiny);
  const read = new ScanCursors().read(cursor, tiny);
  expect(read).toMatchObject({ position: { arc: { start: 0, end: 2 ** 16 } }, slice: 0 });
});

test('ranges: a start is a first key, and a range that is gone restarts the scan', () => {
  const kind = 'ranges' as const;
  const ranges = ring({ kind, partitions: 3, starts: ['g', 'n'] }, 3);
  const begun = { position: { partition: 2, at: Buffer.from('n') }, slice: null };
  const cursor = new ScanCursors().write(begun, ranges);
  expect(new ScanCursors().read(cursor, ranges)).toEqual(begun);
  const behind = { partition: 2, at: Buffer.from('nn') };
  const middle = new ScanCursors().write(inOrder(behind), ranges);
  expect(new ScanCursors().read(middle, ranges)).toEqual({ ...begun, slice: 0 });
  const later = ring({ kind, partitions: 5, starts: ['g', 'n', 't'], ids: [0, 1, 3, 4] }, 5);
  expect(new ScanCursors().read(middle, later)).toEqual(start);
});
