// Which partitions may hold keys of an interval, in the order in which a scan reads them. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { isEmpty, type KeyBounds } from '@ringwright/base/key-bounds';
import { equalEnd } from './hash-ends.ts';
import { hashPositions } from './hash-intervals.ts';
import { hashedPartOf } from './hash-key.ts';
import { intervalOf } from './intervals-of.ts';
import {
  type IntervalPartitioner,
  intervalCountOf,
  isIntervals,
  type Partitioner,
  partitionCountOf,
  type Reshape,
} from './partitioner.ts';

export interface Scanned {
  readonly partitioner: Partitioner;
  /** That of the partitioner. */
  readonly partitionOf: (key: Uint8Array) => number;
  readonly bounds: KeyBounds;
  /** All keys of the interval begin with it. */
  readonly prefix: Uint8Array;
  /**
   * Of hashes, whose circle has no first one: the scan began behind it, and goes around once,
   * whatever is split and merged meanwhile. Absent: behind the last end.
   */
  readonly cut?: number | undefined;
}

/** Everything before it, in the order of the scan, has been read. */
export interface ScanPlace {
  readonly partition: number;
  /** In the partition: see placeBehind; empty: its start. */
  readonly at: Uint8Array;
  /** As Scanned.cut. */
  readonly cut?: number | undefined;
}

/** Of a ring. */
interface Shapes {
  readonly partitioner: Partitioner;
  readonly reshape?: Reshape | undefined;
}

/**
 * The intervals in whose order a scan goes on from a place: those of before, where its partition
 * was split or merged since. Servers read such a one out of what it became. Throws CURSOR_INVALID
 * where that is not known any more.
 */
export function partitionerAt(
  { partitioner, reshape }: Shapes,
  place: ScanPlace | null,
): Partitioner {
  if (place === null || !isIntervals(partitioner) || isOrdered(partitioner)) return partitioner;
  if (isKnownIn(partitioner, place)) return partitioner;
  const before = reshape?.kind === 'from' ? reshape.partitioner : null;
  if (before !== null && isKnownIn(before, place)) return before;
  throw scanEnded(place.partition);
}

function isKnownIn(partitioner: IntervalPartitioner, { partition, cut }: ScanPlace): boolean {
  if (intervalOf(partitioner, partition) === null) return false;
  return cut === undefined || indexBehind(partitioner, cut) !== null;
}

/** The hash behind which a scan of hashes begins that has no place yet; undefined: of others. */
export function firstCut(partitioner: Partitioner): number | undefined {
  if (partitioner.kind !== 'hash-intervals') return undefined;
  const { ends, partitions } = partitioner;
  return ends === undefined ? equalEnd(partitions - 1, partitions) : ends.at(-1);
}

/** The index of the interval that begins behind a hash; null where none does. */
function indexBehind(partitioner: Partitioner, cut: number): number | null {
  if (partitioner.kind !== 'hash-intervals') return null;
  const count = intervalCountOf(partitioner);
  const { ends } = partitioner;
  const index = ends?.indexOf(cut) ?? Math.ceil((cut * count) / hashPositions);
  if (index < 0 || (ends === undefined && equalEnd(index, count) !== cut)) return null;
  return (index + 1) % count;
}

export function scanEnded(partition: number): CodedError {
  const where = `partition ${partition}, in which the scan stands`;
  const message = `${where}, was split or merged since, more than once`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'begin the scan anew, without a cursor',
    details: { partition },
  });
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
  return idInTurn(scanned, reverse ? countOf(partitioner) - 1 : 0);
}

/** Where a scan goes on when it has read a partition; null: that was the last. */
export function placeAfter(scanned: Scanned, partition: number): ScanPlace | null {
  const next = nextPartition(scanned, partition);
  if (next === null) return null;
  const { cut } = scanned;
  if (!isOrdered(scanned.partitioner)) return { partition: next, at: new Uint8Array(), cut };
  const border = scanned.bounds.reverse ? partition : next;
  return { partition: next, at: startOf(scanned.partitioner, border) };
}

/** The one that is read after `partition`; null: it was the last. */
export function nextPartition(scanned: Scanned, partition: number): number | null {
  const { partitioner, bounds, prefix } = scanned;
  if (!isOrdered(partitioner)) {
    if (isOneTag(partitioner, prefix)) return null;
    return nextInTurn(scanned, partition, bounds.reverse ? -1 : 1);
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

/** Of the circle of hashes, from the cut on. */
function idInTurn({ partitioner, cut }: Scanned, turn: number): number {
  const first = cut === undefined ? 0 : (indexBehind(partitioner, cut) ?? 0);
  return idAt(partitioner, (first + turn) % countOf(partitioner));
}

function nextInTurn(scanned: Scanned, partition: number, step: 1 | -1): number | null {
  const { partitioner } = scanned;
  const count = countOf(partitioner);
  const end = idInTurn(scanned, step === 1 ? count - 1 : 0);
  if (partition === end) return null;
  const at = indexOf(partitioner, partition) + step;
  return idAt(partitioner, (at + count) % count);
}

function indexOf(partitioner: Partitioner, partition: number): number {
  const ids = isIntervals(partitioner) ? partitioner.ids : undefined;
  return ids === undefined ? partition : ids.indexOf(partition);
}

function neighbour(partitioner: Partitioner, partition: number, step: 1 | -1): number | null {
  const at = indexOf(partitioner, partition) + step;
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
