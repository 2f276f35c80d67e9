// Which function maps a key to its partition, with its settings. Only splits and merges change it.
// Pure.

export type Partitioner =
  | Md5ShiftPartitioner
  | Murmur3ModPartitioner
  | HashIntervalsPartitioner
  | RangesPartitioner;

/** Partitions that are intervals of an ordered domain, each with an id of its own. */
export type IntervalPartitioner = HashIntervalsPartitioner | RangesPartitioner;

/** Of a prefix or suffix, two hex digits each: no cluster in sight has more than a few dozen. */
export const saltBytesMax = 256;

/** Swift: top `power` bits of MD5(prefix + key + suffix). Prefix and suffix are hex of raw bytes. */
export interface Md5ShiftPartitioner {
  readonly kind: 'md5-shift';
  readonly power: number;
  readonly prefix: string;
  readonly suffix: string;
}

/** M3DB: Murmur3 32-bit of the key, modulo any partition count. */
export interface Murmur3ModPartitioner {
  readonly kind: 'murmur3-mod';
  readonly partitions: number;
  readonly seed: number;
}

export const intervalHashes = ['md5', 'murmur3', 'jenkins'] as const;
export type IntervalHash = (typeof intervalHashes)[number];

/** Of `hashKey`: what stands between the first `{` and the next `}` is hashed, as in Redis. */
export const braceTag = '{tag}';

/** Shriek, Dynamo: the interval of the first end ≥ the key's 32-bit hash; the circle wraps. */
export interface HashIntervalsPartitioner {
  readonly kind: 'hash-intervals';
  readonly hash: IntervalHash;
  /** Only what precedes this text is hashed, or `{tag}`; absent: the whole key. */
  readonly hashKey?: string;
  /** Ids given so far: the columns of the table. */
  readonly partitions: number;
  /** Last hash of each interval, ascending; absent: end i is i/partitions of the circle. */
  readonly ends?: readonly number[];
  /** Id of each interval, in the order of the ends; absent: 0, 1, 2 … */
  readonly ids?: readonly number[];
}

/** EventQL: keys in the order of their bytes. */
export interface RangesPartitioner {
  readonly kind: 'ranges';
  readonly partitions: number;
  /** First key (as `key-text.ts` spells it) of each interval but the first, ascending. */
  readonly starts: readonly string[];
  /** One of them: what keys before it held was given up. Absent: nothing was, or not at a start. */
  readonly retiredBefore?: string;
  readonly ids?: readonly number[];
}

/**
 * Partitions that are split or merged. `to`: the children join as moves from nowhere, one to each
 * device of their parents, and keys go to them when those are finalized. `from`: that is done;
 * devices fill from a parent that they still have.
 */
export interface Reshape {
  readonly kind: 'to' | 'from';
  /** The intervals to come, or those of before. */
  readonly partitioner: IntervalPartitioner;
}

export function isIntervals(partitioner: Partitioner): partitioner is IntervalPartitioner {
  return partitioner.kind === 'hash-intervals' || partitioner.kind === 'ranges';
}

export function partitionCountOf(partitioner: Partitioner): number {
  return partitioner.kind === 'md5-shift' ? 2 ** partitioner.power : partitioner.partitions;
}

/** Partitions that take keys: of intervals those that were split or merged count no more. */
export function liveCountOf(partitioner: Partitioner): number {
  return isIntervals(partitioner) ? intervalCountOf(partitioner) : partitionCountOf(partitioner);
}

/** Number of intervals that are in use; each has an id of its own below `partitions`. */
export function intervalCountOf(partitioner: IntervalPartitioner): number {
  if (partitioner.kind === 'ranges') return partitioner.starts.length + 1;
  return partitioner.ends?.length ?? partitioner.partitions;
}
