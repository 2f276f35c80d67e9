// Cursors of SCAN: places that are remembered, forgotten, foreign or made up.
import { redisCursorsMax } from '@ringwright/base/limits';
import { expect, test } from 'vitest';
import { ScanCursors } from './scan-cursors.ts';

const at = Buffer.from('key');
const nothing = new Uint8Array();

test('0 is the first partition, and the end', () => {
  const cursors = new ScanCursors(1);
  expect(cursors.read(0, 'notes', 4)).toEqual({ partition: 0, at: nothing });
  expect(cursors.write(null, 'notes')).toBe(0);
});

test('a place is found again, by its keyspace only', () => {
  const cursors = new ScanCursors(5);
  const cursor = cursors.write({ partition: 3, at }, 'notes');
  expect(cursors.read(cursor, 'notes', 4)?.at).toEqual(new Uint8Array(at));
  expect(cursors.read(cursor, 'other', 4)).toEqual({ partition: 3, at: nothing });
});

test('a place of another life or one forgotten begins its partition again', () => {
  const cursors = new ScanCursors(5);
  const first = cursors.write({ partition: 3, at }, 'notes');
  expect(new ScanCursors(9).read(first, 'notes', 4)).toEqual({ partition: 3, at: nothing });
  for (let more = 0; more < redisCursorsMax; more += 1) {
    cursors.write({ partition: 1, at }, 'notes');
  }
  expect(cursors.read(first, 'notes', 4)).toEqual({ partition: 3, at: nothing });
});

test('the start of a partition is the same number everywhere', () => {
  const place = { partition: 2, at: nothing };
  const [one, two] = [new ScanCursors(1), new ScanCursors(2 ** 30)];
  expect(one.write(place, 'notes')).toBe(two.write(place, 'notes'));
});

test.each([-1, 0.5, 2 ** 53, 4 * 2 ** 28, Number.NaN])('%d is no cursor', (number) => {
  expect(new ScanCursors(1).read(number, 'notes', 4)).toBeNull();
});

test('places are numbered anew after the last one, never 0', () => {
  const cursors = new ScanCursors(2 ** 28 - 1);
  const cursor = cursors.write({ partition: 0, at }, 'notes');
  expect(cursor).toBeGreaterThan(0);
  expect(cursors.read(cursor, 'notes', 4)?.at).toEqual(new Uint8Array(at));
});
