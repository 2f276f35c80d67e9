// Tests split keys for periods of time: each split key is the lower bound of the keys of its
// period, whatever follows the time.
import { expect, test } from 'vitest';
import { timeKeys } from './splits-ahead.ts';

const now = Date.UTC(2026, 10, 23, 21, 30);
const hourMs = 3_600_000;

test('keys begin with the next period and use the shortest spelling of the time', () => {
  const keys = (every: string, until: string, form = '{iso}'): string[] =>
    timeKeys({ every, until, form }, now);
  expect(keys('1d', '2026-11-26')).toEqual(['2026-11-24', '2026-11-25']);
  expect(keys('4h', '2026-11-24T08:00')).toEqual(['2026-11-24', '2026-11-24T04']);
  expect(keys('15m', '2026-11-23T22:30', 'log:{iso}')).toEqual([
    'log:2026-11-23T21:45',
    'log:2026-11-23T22',
    'log:2026-11-23T22:15',
  ]);
  expect(keys('1d', '2026-11-25', '{unix}:a')).toEqual([`${Date.UTC(2026, 10, 24) / 1_000}:a`]);
  expect(keys('1d', '2026-11-23T23:00')).toEqual([]);
});

test('a key of any moment lies in its own period', () => {
  for (const form of ['{iso}', '{unix}', '{unix-ms}']) {
    const cuts = timeKeys({ every: '3h', until: '2026-12-01', form }, now);
    for (let at = now; at < Date.UTC(2026, 11, 1); at += 17 * 60_000) {
      const moment = { '{iso}': new Date(at).toISOString(), '{unix}': `${Math.floor(at / 1_000)}` };
      const key = (moment as Record<string, string>)[form] ?? String(at);
      const before = cuts.filter((cut) => cut <= key).length;
      const begun = Math.floor(at / (3 * hourMs)) - Math.floor(now / (3 * hourMs));
      expect(before, key).toBe(begun);
    }
  }
});

test.each([
  ['0h', '2026-12-01', '{iso}', /not a period/],
  ['2026-11-01', '2026-12-01', '{iso}', /not a period/],
  ['1d', '2026-11-01', '{iso}', /not in the future/],
  ['1d', '2026-12-01', 'plain', /has no \{iso\}/],
  ['1m', '2026-12-01', '{iso}', /allowed at once/],
])('every %s until %s in the form %s is refused', (...[every, until, form, why]) => {
  expect(() => timeKeys({ every, until, form }, now)).toThrow(why);
});
