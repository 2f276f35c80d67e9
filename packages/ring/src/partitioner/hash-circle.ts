// Partitions as arcs of a circle of 32-bit hashes. Arcs remain valid across splits and merges.
// Pure.
import { equalEnd } from './hash-ends.ts';
import { hashPositions, intervalOfHash, keyHashOf } from './hash-intervals.ts';
import { intervalOf } from './intervals-of.ts';
import { md5Top } from './md5-top.ts';
import type { Md5ShiftPartitioner, Partitioner } from './partitioner.ts';

/** The hashes after `start`, up to and including `end`; all hashes when both are equal. */
export interface HashArc {
  readonly start: number;
  readonly end: number;
}

export interface HashCircle {
  readonly hashOf: (key: Uint8Array) => number;
  /** Returns the partition of a hash. */
  readonly partitionAt: (hash: number) => number;
  /** Returns null for an id that has no keys any more. */
  readonly arcOf: (partition: number) => HashArc | null;
}

/** Returns null when the partitions are not arcs of the circle on which they would be split. */
export function circleOf(partitioner: Partitioner): HashCircle | null {
  if (partitioner.kind === 'hash-intervals') {
    const arcOf = (id: number): HashArc | null => {
      const { start, end } = intervalOf(partitioner, id) ?? {};
      return typeof start === 'number' && typeof end === 'number' ? { start, end } : null;
    };
    return { hashOf: keyHashOf(partitioner), partitionAt: intervalOfHash(partitioner), arcOf };
  }
  const isMd5 = partitioner.kind === 'md5-shift';
  return isMd5 && partitioner.prefix + partitioner.suffix === '' ? md5Circle(partitioner) : null;
}

function md5Circle({ power }: Md5ShiftPartitioner): HashCircle {
  const count = 2 ** power;
  const before = (id: number): number => (equalEnd(id, count) + hashPositions - 1) % hashPositions;
  return {
    hashOf: md5Top,
    partitionAt: (hash) => Math.floor(hash / 2 ** (32 - power)),
    arcOf: (id) => (id < count ? { start: before(id), end: before(id + 1) } : null),
  };
}

/** Returns the hash after `hash` on the circle. */
export function nextHash(hash: number): number {
  return (hash + 1) % hashPositions;
}

/** Returns the number of hashes after `start`, up to and including `end`; all hashes when equal. */
export function hashesBetween(start: number, end: number): number {
  return (end - start + hashPositions) % hashPositions || hashPositions;
}

export function isInArc({ start, end }: HashArc, hash: number): boolean {
  return hashesBetween(start, hash) <= hashesBetween(start, end);
}

/** Yields the partitions that have hashes of the arc, in the order of the circle, each once. */
export function* partitionsOn(
  { partitionAt: at, arcOf }: HashCircle,
  arc: HashArc,
): Generator<number> {
  const first = at(nextHash(arc.start));
  const hashCount = hashesBetween(arc.start, arc.end);
  for (let read = 0; read < hashCount; ) {
    const from = (arc.start + read) % hashPositions;
    const partition = at(nextHash(from));
    // The arc of all hashes ends in the partition in which it begins.
    if (read === 0 || partition !== first) yield partition;
    read += hashesBetween(from, arcOf(partition)?.end ?? arc.end);
  }
}
