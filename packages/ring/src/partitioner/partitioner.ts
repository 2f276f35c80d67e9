// The function that maps a key to its partition, with its settings. Only splits and merges change
// it. Pure.

export type Partitioner =
  | Md5ShiftPartitioner
  | Murmur3ModPartitioner
  | HashIntervalsPartitioner
  | RangesPartitioner;

/** Partitions that are intervals of an ordered domain, each with an id of its own. */
export type IntervalPartitioner = HashIntervalsPartitioner | RangesPartitioner;

/** Bytes of a prefix or suffix, as two hex digits each; known clusters have a few dozen at most. */
export const saltBytesMax = 256;

/** Swift: top `power` bits of MD5(prefix + key + suffix). Prefix and suffix are bytes in hex. */
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

/** A value of `hashKey`: the part between the first `{` and the next `}` is hashed, as in Redis. */
export const braceTag = '{tag}';

/** Shriek, Dynamo: the interval of the first end ≥ the key's 32-bit hash; the circle wraps. */
export interface HashIntervalsPartitioner {
  readonly kind: 'hash-intervals';
  readonly hash: IntervalHash;
  /** Delimiter: only the part of the key before it is hashed. Or `{tag}`. Absent: the whole key. */
  readonly hashKey?: string;
  /** Number of ids issued so far: the columns of the table. */
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
  /** First key (in the form of `key-text.ts`) of each interval but the first, ascending. */
  readonly starts: readonly string[];
  /** A start before which all records were retired. Absent: none, or a merge removed that start. */
  readonly retiredBefore?: string;
  readonly ids?: readonly number[];
}

/**
 * A split or merge of partitions. `to`: the children join as moves without a source, one on each
 * device of their parents, and keys go to the children when those moves are finalized. `from`: that
 * is complete, and devices fill children from a parent that they still have.
 */
export interface Reshape {
  readonly kind: 'to' | 'from';
  /** The future intervals (`to`), or the former ones (`from`). */
  readonly partitioner: IntervalPartitioner;
}

export function isIntervals(partitioner: Partitioner): partitioner is IntervalPartitioner {
  return partitioner.kind === 'hash-intervals' || partitioner.kind === 'ranges';
}

export function partitionCountOf(partitioner: Partitioner): number {
  return partitioner.kind === 'md5-shift' ? 2 ** partitioner.power : partitioner.partitions;
}

/** Returns the number of partitions that take keys. Split or merged intervals no longer count. */
export function liveCountOf(partitioner: Partitioner): number {
  return isIntervals(partitioner) ? intervalCountOf(partitioner) : partitionCountOf(partitioner);
}

/** Returns the number of intervals in use; each has an id of its own below `partitions`. */
export function intervalCountOf(partitioner: IntervalPartitioner): number {
  if (partitioner.kind === 'ranges') return partitioner.starts.length + 1;
  return partitioner.ends?.length ?? partitioner.partitions;
}
