// Tests splits and merges of all partitions at once, against partitioners with a multiple or a
// fraction of the partitions.
import { describe, expect, test } from 'vitest';
import { asIntervals } from './as-intervals.ts';
import { equalEnd, randomEnds } from './hash-ends.ts';
import { intervalFaults } from './interval-faults.ts';
import { partitionerOf } from './partition-of-key.ts';
import { timesIntervals } from './partition-power.ts';
import type { IntervalPartitioner, Partitioner } from './partitioner.ts';
import { mayFollow, reshapeMapping } from './reshape.ts';

const md5 = (power: number): Partitioner => ({ kind: 'md5-shift', power, prefix: '', suffix: '' });
const circle = { kind: 'hash-intervals', hash: 'murmur3', partitions: 8 } as const;
const first: Readonly<Record<string, Partitioner>> = {
  'md5-shift': md5(3),
  equal: circle,
  'random ends': { ...circle, ends: randomEnds(8, 7) },
};
const keys = Array.from({ length: 2_000 }, (_, index) => Buffer.from(`key ${index}`));
const placesIn = (partitioner: Partitioner): number[] => keys.map(partitionerOf(partitioner));
const endsOf = (partitioner: IntervalPartitioner | null): readonly number[] | undefined =>
  partitioner?.kind === 'hash-intervals' ? partitioner.ends : undefined;

test('an interval can be cut into 2^18 parts', () => {
  const one = { ...circle, partitions: 1 };
  expect(timesIntervals(one, 2 ** 18)?.partitions).toBe(1 + 2 ** 18);
});

describe.each(Object.entries(first))('%s', (_, partitioner) => {
  const before = asIntervals(partitioner)!;

  test('each key stays in its partition when the partitioner is written as intervals', () => {
    expect(placesIn(before)).toEqual(placesIn(partitioner));
  });

  test.each([2, 4, 1 / 2, 1 / 8])('times %s: keys go to children of their partitions', (factor) => {
    const after = timesIntervals(before, factor)!;
    expect([...intervalFaults(after)]).toEqual([]);
    expect(mayFollow(partitioner, after)).toBe(true);
    expect(mayFollow(after, partitioner)).toBe(false);
    const { parents, retired } = reshapeMapping(before, after);
    expect([parents.size, retired.size]).toEqual([8 * factor, 8]);
    const now = placesIn(after);
    for (const [index, place] of placesIn(partitioner).entries()) {
      expect(parents.get(now[index]!)).toContain(place);
    }
  });
});

test('equal intervals stay equal: they are those of another power', () => {
  const of = (power: number) => endsOf(asIntervals(md5(power)));
  expect(endsOf(timesIntervals(asIntervals(md5(3))!, 4))).toEqual(of(5));
  expect(endsOf(timesIntervals(asIntervals(md5(3))!, 1 / 4))).toEqual(of(1));
  const equal = Array.from({ length: 32 }, (_, index) => equalEnd(index, 32));
  expect(endsOf(timesIntervals(circle, 4))).toEqual(equal);
  const back = timesIntervals(timesIntervals(circle, 4)!, 1 / 2);
  expect(endsOf(back)).toEqual(equal.filter((_, index) => index % 2 === 0));
});

test('an interval of one hash is not cut, and md5-shift with a prefix has no intervals', () => {
  expect(timesIntervals({ ...circle, partitions: 2, ends: [8, 9] }, 2)).toBe(null);
  expect(asIntervals({ kind: 'md5-shift', power: 3, prefix: '61', suffix: '' })).toBe(null);
});
