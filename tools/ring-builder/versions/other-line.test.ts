// Tests which versions of a server are of another line: by the log, epochs and settled forks.
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { expect, test } from 'vitest';
import { isHigherEpoch, isOtherLine } from './other-line.ts';

const entry = (kind: LogEntry['kind'], version: number, details = {}): LogEntry =>
  ({ kind, version, id: `${version}`.repeat(64), details }) as LogEntry;
const log = [entry('commit', 2), entry('advance', 3), entry('push', 3), entry('commit', 4)];
const theirs = { version: 3, id: 'f'.repeat(64) };

test('a version is of another line if its id differs from the log, unless settled', () => {
  expect(isOtherLine(log, theirs)).toBe(true);
  expect(isOtherLine(log, { version: 3, id: '3'.repeat(64) })).toBe(false);
  expect(isOtherLine(log, { ...theirs, version: 1 }), 'before the log begins').toBe(false);
  expect(isOtherLine(log, { ...theirs, version: 9 }), 'ahead of the log').toBe(false);
  const settled = entry('push', 3, { settled: 2, quiet: 1 });
  expect(isOtherLine([...log, settled], theirs)).toBe(false);
  expect(isOtherLine([...log, settled], { ...theirs, version: 4 })).toBe(true);
});

test.each([
  [2, 1, true],
  [1, 1, false],
  [1, 2, false],
  [1, null, false],
  [null, 1, false],
])('epoch %s is higher than epoch %s: %s', (ours, there, isOver) => {
  expect(isHigherEpoch(ours, there)).toBe(isOver);
});
