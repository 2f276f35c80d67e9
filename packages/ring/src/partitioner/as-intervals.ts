// Converts partitions that can be split and merged to intervals. Pure.
import { equalEnd } from './hash-ends.ts';
import { type IntervalPartitioner, isIntervals, type Partitioner } from './partitioner.ts';

/**
 * Returns a partitioner of intervals with the same keys and ids; null when partitions are not
 * intervals. MD5 without prefix and suffix, cut into equal parts, is a circle of hashes.
 */
export function asIntervals(partitioner: Partitioner): IntervalPartitioner | null {
  if (isIntervals(partitioner)) return partitioner;
  if (partitioner.kind !== 'md5-shift') return null;
  const { power, prefix, suffix } = partitioner;
  if (prefix !== '' || suffix !== '') return null;
  const partitions = 2 ** power;
  const ends = Array.from({ length: partitions }, (_, id) => equalEnd(id + 1, partitions) - 1);
  return { kind: 'hash-intervals', hash: 'md5', partitions, ends };
}
