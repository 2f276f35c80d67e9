// Tests sizes, durations and times as operators type them and as commands print them.
import { expect, test } from 'vitest';
import { parseTime } from './parse-time.ts';
import { parseBytes, printBytes, printSeconds } from './print-bytes.ts';

test.each([
  ['50MB/s', 50e6],
  ['1.5GiB', 1.5 * 2 ** 30],
  ['200k', 200_000],
  ['800000', 800_000],
  ['10 MB', 10e6],
])('the size %s is parsed as %d bytes', (text, bytes) => {
  expect(parseBytes(text, '--rate')).toBe(bytes);
});

test.each(['', '0', '-5MB', 'MB', '5 parsecs', '1e9', '5MB/h', 'NaN'])('%j is refused', (text) => {
  expect(() => parseBytes(text, '--rate')).toThrow(/is not a size/);
});

test('bytes are printed with up to three digits, durations in a suitable unit', () => {
  const bytes = [0, 999, 1_000, 12_345_678, 2e15].map(printBytes);
  expect(bytes).toEqual(['0 B', '999 B', '1.00 kB', '12.3 MB', '2.00 PB']);
  const seconds = [0.04, 48, 750, 11_520, 360_000].map(printSeconds);
  expect(seconds).toEqual(['0.0 s', '48 s', '12.5 min', '3.2 h', '4.2 d']);
});

test('a time is a date, a moment in UTC or with an offset, or an age', () => {
  const now = Date.UTC(2026, 10, 21, 12);
  expect(parseTime('2026-11-21', now, '--at')).toBe(Date.UTC(2026, 10, 21));
  expect(parseTime('2026-11-21T08:00Z', now, '--at')).toBe(Date.UTC(2026, 10, 21, 8));
  expect(parseTime('2026-11-21T08:00+02:00', now, '--at')).toBe(Date.UTC(2026, 10, 21, 6));
  expect(parseTime('36h', now, '--at')).toBe(Date.UTC(2026, 10, 20));
  for (const text of ['yesterday', '2026-13-01', '2026-11', '36', '7days', '']) {
    expect(() => parseTime(text, now, '--at'), text).toThrow(/is not a time/);
  }
});
