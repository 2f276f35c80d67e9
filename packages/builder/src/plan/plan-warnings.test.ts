// Warnings use the singular for one move and the plural for several.
import { expect, test } from 'vitest';
import { leftForLater } from './plan-warnings.ts';

test.each([
  [1, '1 move in this version, 1 is left for later versions'],
  [2, '2 moves in this version, 2 are left for later versions'],
])('the warning about %i moves now and later is a correct sentence', (count, message) => {
  const moves = Array.from({ length: count }, (_, partition) => {
    return { partition, replica: 0, from: 0, to: 1 };
  });
  expect(leftForLater({ moves, movesLeft: count })).toMatchObject([{ message }]);
});
