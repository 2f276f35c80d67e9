// The lines of a benchmark's table: ratios, aims and columns.
import { expect, test } from 'vitest';
import { comparison, tableLines, withoutPeer } from './comparison.ts';

const given = { section: 's', what: 'puts', unit: '/s', figure: 300 };
const beside = { name: 'peer', figure: 100 };

test('an aim limits the ratio to the peer, or the figure if there is no peer', () => {
  expect(comparison({ ...given, beside, aim: { atLeast: 3 } })).toMatchObject({
    ratio: 3,
    met: true,
  });
  expect(comparison({ ...given, beside, aim: { atMost: 2 } }).met).toBe(false);
  expect(comparison({ ...given, aim: { atMost: 299 } }).met).toBe(false);
  expect(comparison({ ...given, beside }).met).toBeNull();
});

test('a line without its peer says so, and neither meets nor misses its aim', () => {
  const row = withoutPeer({ ...given, aim: { atLeast: 3 } }, 'etcd');
  expect(row).toMatchObject({ ratio: null, met: null, note: 'etcd is not installed' });
});

test('the cells of a column are aligned', () => {
  const lines = tableLines([comparison({ ...given, beside }), comparison(given)]);
  expect(lines.map((line) => line.indexOf('/s')).slice(1)).toEqual([
    lines[0]!.indexOf('unit'),
    lines[0]!.indexOf('unit'),
  ]);
});
