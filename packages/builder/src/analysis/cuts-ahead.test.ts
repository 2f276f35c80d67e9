// Which partitions must be cut, and where, so that ranges begin at given keys.
import type {
  IntervalPartitioner,
  RangesPartitioner,
} from '@ringwright/ring/partitioner/partitioner';
import { splitInterval } from '@ringwright/ring/partitioner/reshape';
import { expect, test } from 'vitest';
import { cutsAhead } from './propose-splits.ts';

const start: RangesPartitioner = { kind: 'ranges', partitions: 2, starts: ['2026-12'] };
const keys = ['2026-11-24', '2026-12', '2026-12-01', '2026-11-25', '2026-11-24'];

test('each key that is not yet the start of a range cuts its partition once', () => {
  expect(cutsAhead(start, keys)).toEqual([
    { partition: 0, at: ['2026-11-24', '2026-11-25'] },
    { partition: 1, at: ['2026-12-01'] },
  ]);
});

test('after the cuts were made, the same keys propose none', () => {
  let cut: IntervalPartitioner = start;
  for (const { partition, at } of cutsAhead(start, keys)) cut = splitInterval(cut, partition, at);
  expect(cutsAhead(cut as RangesPartitioner, keys)).toEqual([]);
});
