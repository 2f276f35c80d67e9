// Proposals carried out again and again: they come to an end, and nothing is split and merged back.
import { seededRandom } from '@ringwright/base/random';
import type { RangesPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { mergeShareMax, proposeSplits } from './propose-splits.ts';

const above = 512;
const limits = { above, below: above * mergeShareMax, most: 16 };

/** Neighbours in order; ids are their places. */
function rangesOf(count: number): RangesPartitioner {
  const starts = Array.from(
    { length: count - 1 },
    (_, index) => `k${String(index).padStart(4, '0')}`,
  );
  return { kind: 'ranges', partitions: count, starts };
}

test('sizes at random: after some rounds all lie between the limits, or alone', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom(seed);
    let sizes = Array.from({ length: 1 + random.below(40) }, () =>
      random.below(1 << random.below(14)),
    );
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    for (let round = 0; ; round += 1) {
      const found = proposeSplits(rangesOf(sizes.length), (id) => sizes[id] ?? null, limits);
      if (found.length === 0) break;
      expect(round).toBeLessThan(40);
      expect(found.length).toBeLessThanOrEqual(limits.most);
      const next: number[][] = sizes.map((bytes) => [bytes]);
      for (const one of found) {
        if (one.kind === 'split') {
          const half = Math.floor(one.bytes / 2);
          expect(half).toBeGreaterThanOrEqual(4 * limits.below);
          next[one.partition] = [half, one.bytes - half];
        } else {
          expect(one.bytes).toBeLessThanOrEqual(above / 4);
          const [first, second] = one.partitions;
          expect(second).toBe(first + 1);
          [next[first], next[second]] = [[one.bytes], []];
        }
      }
      sizes = next.flat();
    }
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBe(total);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(above);
    const small = sizes.map((bytes) => bytes < limits.below);
    expect(small.some((is, index) => is && small[index + 1] === true)).toBe(false);
  }
});

test('a partition of which nobody told the size is left alone', () => {
  expect(proposeSplits(rangesOf(3), (id) => (id === 1 ? null : 1), limits)).toEqual([]);
});
