// Proposals are carried out repeatedly: they come to an end, and none is reversed later.
import { seededRandom } from '@ringwright/base/random';
import type { RangesPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { expect, test } from 'vitest';
import { mergeShareMax, proposeSplits } from './propose-splits.ts';

const above = 512;
const limits = { above, below: above * mergeShareMax, busy: { times: 4, least: 100 }, most: 16 };
const rateOf = (): number => 0;

/** Returns ranges in order, whose ids are their positions. */
function rangesOf(count: number): RangesPartitioner {
  const starts = Array.from(
    { length: count - 1 },
    (_, index) => `k${String(index).padStart(4, '0')}`,
  );
  return { kind: 'ranges', partitions: count, starts };
}

test('proposals for random sizes leave no large partition and no small neighbors', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom(seed);
    let sizes = Array.from({ length: 1 + random.below(40) }, () =>
      random.below(1 << random.below(14)),
    );
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
    for (let round = 0; ; round += 1) {
      const found = proposeSplits(
        rangesOf(sizes.length),
        { bytesOf: (id) => sizes[id] ?? null, rateOf },
        limits,
      );
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

test('a partition of unknown size is merged with no neighbor', () => {
  const bytesOf = (id: number) => (id === 1 ? null : 1);
  expect(proposeSplits(rangesOf(3), { bytesOf, rateOf }, limits)).toEqual([]);
});

test('a partition of unknown request rate is merged with no neighbor', () => {
  const known = { bytesOf: () => 1, rateOf: (id: number) => (id === 2 ? null : 0) };
  const found = proposeSplits(rangesOf(5), known, limits);
  expect(found).toEqual([
    { kind: 'merge', partitions: [0, 1], bytes: 2 },
    { kind: 'merge', partitions: [3, 4], bytes: 2 },
  ]);
});

test('busy partitions are split until none is left, and their halves are not merged', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seededRandom(seed);
    let rates = Array.from({ length: 2 + random.below(40) }, () =>
      random.below(1 << random.below(14)),
    );
    for (let round = 0; ; round += 1) {
      const known = { bytesOf: () => limits.below + 1, rateOf: (id: number) => rates[id] ?? null };
      const found = proposeSplits(rangesOf(rates.length), known, limits);
      if (found.length === 0) break;
      expect(round).toBeLessThan(60);
      const next: number[][] = rates.map((rate) => [rate]);
      for (const one of found) {
        if (one.kind !== 'split') throw new Error('nothing small');
        const rate = rates[one.partition] ?? 0;
        expect(rate).toBe(one.busy?.rate);
        expect(rate).toBeGreaterThan(4 * (one.busy?.mean ?? Number.POSITIVE_INFINITY));
        next[one.partition] = [rate / 2, rate / 2];
      }
      const small = { bytesOf: () => 1, rateOf: (id: number) => next.flat()[id] ?? null };
      for (const one of proposeSplits(rangesOf(next.flat().length), small, {
        ...limits,
        most: 99,
      })) {
        if (one.kind !== 'merge') continue;
        const sum = one.partitions.reduce((all, id) => all + (next.flat()[id] ?? 0), 0);
        expect(found.some((split) => split.kind === 'split' && split.busy?.rate === sum)).toBe(
          false,
        );
      }
      rates = next.flat();
    }
  }
});
