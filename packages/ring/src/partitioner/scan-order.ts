// Which partitions may hold keys of an interval, in the order in which a scan reads them. Pure.
import { isEmpty, type KeyBounds } from '@ringwright/base/key-bounds';
import { hashedPartOf } from './hash-key.ts';
import { intervalOf } from './intervals-of.ts';
import { intervalCountOf, isIntervals, type Partitioner, partitionCountOf } from './partitioner.ts';

export interface Scanned {
  readonly partitioner: Partitioner;
  /** That of the partitioner. */
  readonly partitionOf: (key: Uint8Array) => number;
  readonly bounds: KeyBounds;
  /** All keys of the interval begin with it. */
  readonly prefix: Uint8Array;
}

/** Everything before it, in the order of the scan, has been read. */
export interface ScanPlace {
  readonly partition: number;
  /** In the partition: see placeBehind; empty: its start. */
  readonly at: Uint8Array;
}

/** Whether keys come in the order of their bytes over the whole keyspace. */
export function isOrdered({ kind }: Partitioner): boolean {
  return kind === 'ranges';
}

/** The partition that is read first; null: there is none. */
export function firstPartition(scanned: Scanned): number | null {
  const { partitioner, partitionOf, bounds, prefix } = scanned;
  const { from, to, reverse } = bounds;
  if (isEmpty(bounds)) return null;
  if (isOrdered(partitioner)) {
    if (!reverse) return partitionOf(from);
    if (to === null) return idAt(partitioner, countOf(partitioner) - 1);
    const last = partitionOf(to);
    return isBefore(startOf(partitioner, last), to) ? last : neighbour(partitioner, last, -1);
  }
  if (isOneTag(partitioner, prefix)) return partitionOf(prefix);
  return idAt(partitioner, reverse ? countOf(partitioner) - 1 : 0);
}

/** Where a scan goes on when it has read a partition; null: that was the last. */
export function placeAfter(scanned: Scanned, partition: number): ScanPlace | null {
  const next = nextPartition(scanned, partition);
  if (next === null) return null;
  if (!isOrdered(scanned.partitioner)) return { partition: next, at: new Uint8Array() };
  const border = scanned.bounds.reverse ? partition : next;
  return { partition: next, at: startOf(scanned.partitioner, border) };
}

/** The one that is read after `partition`; null: it was the last. */
export function nextPartition(scanned: Scanned, partition: number): number | null {
  const { partitioner, bounds, prefix } = scanned;
  if (!isOrdered(partitioner)) {
    if (isOneTag(partitioner, prefix)) return null;
    return neighbour(partitioner, partition, bounds.reverse ? -1 : 1);
  }
  if (bounds.reverse) {
    const start = startOf(partitioner, partition);
    return isBefore(bounds.from, start) ? neighbour(partitioner, partition, -1) : null;
  }
  const next = neighbour(partitioner, partition, 1);
  if (next === null || bounds.to === null) return next;
  return isBefore(startOf(partitioner, next), bounds.to) ? next : null;
}

/** The first key of a range; empty for the first range. */
function startOf(partitioner: Partitioner, partition: number): Uint8Array {
  const start = intervalOf(partitioner, partition)?.start;
  return start instanceof Uint8Array ? start : new Uint8Array();
}

/** Whether the part that is hashed is the same for all keys with the prefix. */
function isOneTag(partitioner: Partitioner, prefix: Uint8Array): boolean {
  if (partitioner.kind !== 'hash-intervals' || partitioner.hashKey === undefined) return false;
  return hashedPartOf(partitioner.hashKey)(prefix).length < prefix.length;
}

function neighbour(partitioner: Partitioner, partition: number, step: 1 | -1): number | null {
  const ids = isIntervals(partitioner) ? partitioner.ids : undefined;
  const at = (ids === undefined ? partition : ids.indexOf(partition)) + step;
  return at < 0 || at >= countOf(partitioner) ? null : idAt(partitioner, at);
}

function idAt(partitioner: Partitioner, index: number): number {
  return isIntervals(partitioner) ? (partitioner.ids?.[index] ?? index) : index;
}

function countOf(partitioner: Partitioner): number {
  return isIntervals(partitioner) ? intervalCountOf(partitioner) : partitionCountOf(partitioner);
}

function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) < 0;
}
