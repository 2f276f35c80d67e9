import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeRead, valueAfter } from './ledger.ts';

const entry = { key: 'AD/03/Vila/42.5,1.5', value: '{"name":"Vila","lat":"42.5"}' };

test('the value of an update is JSON with one more member', () => {
  expect(valueAfter(entry, 0)).toBe(entry.value);
  expect(JSON.parse(valueAfter(entry, 7))).toEqual({ name: 'Vila', lat: '42.5', update: 7 });
});

test('a read is right exactly from the acknowledged update to the last one sent', () => {
  const update = fc.integer({ min: 0, max: 50 });
  fc.assert(
    fc.property(update, update, update, (seen, from, more) => {
      const to = from + more;
      const expected = seen < from ? 'stale' : seen > to ? 'invented' : 'right';
      expect(judgeRead(entry, valueAfter(entry, seen), { from, to })).toBe(expected);
    }),
  );
});

test('a missing record is judged as lost, and any other bytes as damaged', () => {
  const bounds = { from: 0, to: 3 };
  expect(judgeRead(entry, null, bounds)).toBe('lost');
  const others = [
    '',
    '{}',
    `${entry.value} `,
    valueAfter({ ...entry, value: '{"name":"Ordino"}' }, 2),
  ];
  for (const value of others) expect(judgeRead(entry, value, bounds)).toBe('damaged');
});
