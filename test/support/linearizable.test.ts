// The checker finds violations and accepts what is allowed.
import { expect, test } from 'vitest';
import { type RegisterOperation, unexplained } from './linearizable.ts';

type Operation = RegisterOperation<string | null>;

const during = (invoked: number, returned: number) => ({ invoked, returned });
const put = (value: string, [from, to]: readonly [number, number]): Operation => ({
  ...during(from, to),
  name: `put ${value}`,
  apply: () => ({ state: value }),
});
const read = (found: string | null, [from, to]: readonly [number, number]): Operation => ({
  ...during(from, to),
  name: `read ${found}`,
  apply: (state) => (state === found ? { state } : null),
});
const swap = (from: string | null, to: string, [begin, end]: readonly [number, number]) => ({
  ...during(begin, end),
  name: `swap ${from} for ${to}`,
  apply: (state: string | null) => (state === from ? { state: to } : null),
});
const never = Number.POSITIVE_INFINITY;

test.each<[string, readonly Operation[]]>([
  ['nothing', []],
  ['reads around a put', [put('a', [1, 4]), read(null, [2, 3]), read('a', [5, 6])]],
  ['a put of which nothing is known, seen', [put('a', [1, never]), read('a', [5, 6])]],
  ['a put of which nothing is known, never seen', [put('a', [1, never]), read(null, [5, 6])]],
  [
    'puts at once, in the order the reads show',
    [put('a', [1, 8]), put('b', [2, 7]), read('b', [3, 4]), read('a', [5, 6])],
  ],
  ['a swap after a put', [put('a', [1, 2]), swap('a', 'b', [3, 4]), read('b', [5, 6])]],
])('accepted: %s', (_, history) => {
  expect(unexplained(history, null)).toBeNull();
});

test.each<[string, readonly Operation[]]>([
  ['a lost put', [put('a', [1, 2]), read(null, [3, 4])]],
  ['a read that goes back', [put('a', [1, 9]), read('a', [2, 3]), read(null, [4, 5])]],
  ['a value of nobody', [read('a', [1, 2])]],
  ['two swaps of one value', [swap(null, 'a', [1, 4]), swap(null, 'b', [2, 3])]],
  [
    'a put between, which the swap did not see',
    [put('a', [1, 2]), put('b', [3, 4]), read('b', [5, 6]), swap('a', 'c', [7, 8])],
  ],
  [
    'a put seen twice',
    [put('a', [1, 9]), put('b', [2, 3]), read('a', [4, 5]), read('b', [6, 7]), read('a', [10, 11])],
  ],
])('rejected: %s', (_, history) => {
  expect(unexplained(history, null)).toContain('not explained');
});
