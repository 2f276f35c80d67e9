// Tests times as operators type them: in UTC unless they name a time zone, and only real days.
import { expect, test } from 'vitest';
import { parseTime } from './parse-time.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

test.each([
  ['2026-11-21', '2026-11-21T00:00:00Z'],
  ['2026-11-21T08:00', '2026-11-21T08:00:00Z'],
  ['2026-11-21T08:00:30.5', '2026-11-21T08:00:30.500Z'],
  ['2026-11-21T08:00Z', '2026-11-21T08:00:00Z'],
  ['2026-11-21T08:00+02:00', '2026-11-21T06:00:00Z'],
  ['36h', '2026-11-20T00:00:00Z'],
])('--since %s is the time %s', (text, wanted) => {
  const before = process.env['TZ'];
  process.env['TZ'] = 'Asia/Tokyo';
  try {
    expect(parseTime(text, now, '--since')).toBe(Date.parse(wanted));
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test.each(['2026-02-29', '2026-11-31T08:00Z', '2026-13-01'])('%s is no day of a month', (text) => {
  expect(() => parseTime(text, now, '--since')).toThrow(/is not a time/);
  expect(parseTime('2028-02-29', now, '--since')).toBe(Date.UTC(2028, 1, 29));
});
