// Cursors survive a round trip, and no other text is a cursor.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { readCursor, writeCursor } from './scan-cursor.ts';

const use = { keyspace: 'notes', reverse: false, ordered: false };
const random = seededRandom(3);

test('a position survives a round trip, without its partition if keys are ordered', () => {
  const position = { partition: 2 ** 24 - 1, at: Uint8Array.from([0, 255, 7]) };
  expect(readCursor(writeCursor(position, use), use)).toEqual(position);
  const ordered = { ...use, ordered: true };
  expect(readCursor(writeCursor(position, ordered), ordered)).toEqual({
    ...position,
    partition: 0,
  });
});

test('a position on the circle of hashes is read back as its arc', () => {
  const arc = { start: 2 ** 32 - 1, end: 7 };
  const position = { partition: 3, at: Buffer.from('key'), arc, cut: 2 ** 32 - 1 };
  const read = readCursor(writeCursor(position, use), use);
  expect(read).toEqual({ ...position, at: Uint8Array.from(position.at), partition: 0 });
});

test('a cut, changed or foreign cursor is refused', () => {
  const cursor = writeCursor({ partition: 7, at: Buffer.from('key') }, use);
  const refused = expect.objectContaining({ code: 'CURSOR_INVALID' });
  for (const other of [
    { ...use, keyspace: 'other' },
    { ...use, reverse: true },
    { ...use, ordered: true },
  ]) {
    expect(() => readCursor(cursor, other)).toThrow(refused);
  }
  for (let at = 0; at < cursor.length; at += 1) {
    const other = 'ABCDwxyz01-_'.replace(cursor[at] ?? '', '');
    const changed = cursor.slice(0, at) + other[random.below(other.length)] + cursor.slice(at + 1);
    expect(() => readCursor(changed, use), changed).toThrow(refused);
    expect(() => readCursor(cursor.slice(0, at), use)).toThrow(refused);
  }
});
