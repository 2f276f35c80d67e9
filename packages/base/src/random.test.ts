import { expect, test } from 'vitest';
import { seededRandom } from './random.ts';

const take = (seed: number, count: number): number[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

// Computed by a second implementation in Python, with integers of any size.
test('the numbers of two seeds never change, so that failing seeds can be replayed', () => {
  expect(take(0, 4)).toEqual([4_143_336_393, 177_185_503, 380_008_945, 2_381_108_232]);
  expect(take(81_723, 4)).toEqual([1_322_281_966, 3_833_162_309, 1_301_408_060, 2_683_793_224]);
});

test('the same seed gives the same numbers, and another seed gives others', () => {
  expect(take(7, 1_000)).toEqual(take(7, 1_000));
  expect(take(7, 4)).not.toEqual(take(8, 4));
});

test('below() stays below its bound and reaches every value', () => {
  const random = seededRandom(1);
  const counts = new Array<number>(10).fill(0);
  for (let draw = 0; draw < 10_000; draw += 1) {
    const value = random.below(10);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  expect(counts).toHaveLength(10);
  // 1,000 expected each; six standard deviations are 180. The seed is fixed: the result is stable.
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(180);
});

test('the bound may be the whole range, and a bound of one gives zero', () => {
  const random = seededRandom(2);
  expect(random.below(1)).toBe(0);
  expect(random.below(2 ** 32)).toBeLessThan(2 ** 32);
});
