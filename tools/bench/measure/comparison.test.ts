import { expect, test } from 'vitest';
import { comparison, tableLines, withoutPeer } from './comparison.ts';

const given = { section: 's', what: 'puts', unit: '/s', figure: 300 };
const beside = { name: 'peer', figure: 100 };

test('the aim is one of the ratio where something stands beside, else of the figure', () => {
  expect(comparison({ ...given, beside, aim: { atLeast: 3 } })).toMatchObject({
    ratio: 3,
    met: true,
  });
  expect(comparison({ ...given, beside, aim: { atMost: 2 } }).met).toBe(false);
  expect(comparison({ ...given, aim: { atMost: 299 } }).met).toBe(false);
  expect(comparison({ ...given, beside }).met).toBeNull();
});

test('without its peer a line says so, and no aim is met or missed', () => {
  const row = withoutPeer({ ...given, aim: { atLeast: 3 } }, 'etcd');
  expect(row).toMatchObject({ ratio: null, met: null, note: 'etcd is not installed' });
});

test('columns stand under each other', () => {
  const lines = tableLines([comparison({ ...given, beside }), comparison(given)]);
  expect(lines.map((line) => line.indexOf('/s')).slice(1)).toEqual([
    lines[0]!.indexOf('unit'),
    lines[0]!.indexOf('unit'),
  ]);
});
