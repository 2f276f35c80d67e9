// Partitions that can be split and merged, as intervals. Pure.
import { equalEnd } from './hash-ends.ts';
import { type IntervalPartitioner, isIntervals, type Partitioner } from './partitioner.ts';

/**
 * The same keys in partitions of the same ids, as intervals; null where partitions are none. MD5
 * without text around the key, cut into equal parts, is a circle of hashes like any other.
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
