// Cursors of SCAN: places that are remembered, forgotten, foreign or made up.
import { redisCursorsMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { ScanCursors } from './scan-cursors.ts';

const after = Buffer.from('key');
const nothing = new Uint8Array();

test('0 is the first partition, and the end', () => {
  const cursors = new ScanCursors(1);
  expect(cursors.read(0, 'notes', 4)).toEqual({ partition: 0, after: nothing });
  expect(cursors.write({ partition: 4, after: nothing }, 'notes', 4)).toBe(0);
});

test('a place is found again, by its keyspace only', () => {
  const cursors = new ScanCursors(5);
  const cursor = cursors.write({ partition: 3, after }, 'notes', 4);
  expect(cursors.read(cursor, 'notes', 4)?.after).toEqual(new Uint8Array(after));
  expect(cursors.read(cursor, 'other', 4)).toEqual({ partition: 3, after: nothing });
});

test('a place of another life or one forgotten begins its partition again', () => {
  const cursors = new ScanCursors(5);
  const first = cursors.write({ partition: 3, after }, 'notes', 4);
  expect(new ScanCursors(9).read(first, 'notes', 4)).toEqual({ partition: 3, after: nothing });
  for (let more = 0; more < redisCursorsMax; more += 1) {
    cursors.write({ partition: 1, after }, 'notes', 4);
  }
  expect(cursors.read(first, 'notes', 4)).toEqual({ partition: 3, after: nothing });
});

test('the start of a partition is the same number everywhere', () => {
  const place = { partition: 2, after: nothing };
  const [one, two] = [new ScanCursors(1), new ScanCursors(2 ** 30)];
  expect(one.write(place, 'notes', 4)).toBe(two.write(place, 'notes', 4));
});

test.each([-1, 0.5, 2 ** 53, 4 * 2 ** 28, Number.NaN])('%d is no cursor', (number) => {
  expect(new ScanCursors(1).read(number, 'notes', 4)).toBeNull();
});

test('places are numbered anew after the last one, never 0', () => {
  const cursors = new ScanCursors(2 ** 28 - 1);
  const cursor = cursors.write({ partition: 0, after }, 'notes', 4);
  expect(cursor).toBeGreaterThan(0);
  expect(cursors.read(cursor, 'notes', 4)?.after).toEqual(new Uint8Array(after));
});
