// The partitions that may hold keys of an interval, in the order in which a scan reads them. Pure.
// On a circle of hashes, a position names the arc that is being read, not its partition. So a
// position stays valid through splits and merges.
import { CodedError } from '@ringwright/base/coded-error';
import { boundsFrom, isEmpty, type KeyBounds } from '@ringwright/base/key-bounds';
import { circleOf, type HashArc, type HashCircle, hashesBetween, nextHash } from './hash-circle.ts';
import { hashedPartOf, hashPositions } from './hash-intervals.ts';
import { intervalOf } from './intervals-of.ts';
import { partitionerOf } from './partition-of-key.ts';
import {
  isIntervals,
  liveCountOf,
  type Partitioner,
  partitionCountOf,
  type Reshape,
} from './partitioner.ts';

export interface Scanned {
  readonly partitioner: Partitioner;
  /** Maps a key to its partition, by the partitioner. */
  readonly partitionOf: (key: Uint8Array) => number;
  /** Null when partitions are read by number, or as ranges of keys. */
  readonly circle: HashCircle | null;
  readonly bounds: KeyBounds;
  /** All keys of the interval begin with it. */
  readonly prefix: Uint8Array;
}

/** A position of a scan: everything before it has been read. */
export interface ScanPosition {
  readonly partition: number;
  /** Position in the partition (see positionAfterKey); empty: its start. */
  readonly at: Uint8Array;
  /** On a circle: the arc that is being read. Absent in older cursors: the partition's arc. */
  readonly arc?: HashArc | undefined;
  /** On a circle: the hash after which the scan began. The scan goes around once. */
  readonly cut?: number | undefined;
}

/** The fields of a ring that determine its partitions. */
interface Shapes {
  readonly partitioner: Partitioner;
  readonly reshape?: Reshape | undefined;
}

export function scannedOf(
  { partitioner }: Shapes,
  { bounds, prefix }: Pick<Scanned, 'bounds' | 'prefix'>,
): Scanned {
  const circle = circleOf(partitioner);
  const partitionOf =
    circle === null
      ? partitionerOf(partitioner)
      : (key: Uint8Array) => circle.partitionAt(circle.hashOf(key));
  return { partitioner, partitionOf, circle, bounds, prefix };
}

/** Whether keys come in the order of their bytes over the whole keyspace. */
export function isOrdered({ kind }: Partitioner): boolean {
  return kind === 'ranges';
}

/** Returns where a scan begins; null when there is nothing to read. */
export function firstPosition(scanned: Scanned): ScanPosition | null {
  const { circle, partitioner, partitionOf, bounds, prefix } = scanned;
  if (isEmpty(bounds)) return null;
  const at = new Uint8Array();
  if (isOrdered(partitioner)) return { partition: firstRange(scanned), at };
  if (isOneTag(partitioner, prefix)) return partitionStart(scanned, partitionOf(prefix));
  if (circle !== null)
    return onCircle(scanned, circle, { from: cutOf(circle), cut: cutOf(circle) });
  return { partition: bounds.reverse ? partitionCountOf(partitioner) - 1 : 0, at };
}

/** Returns the start of one partition, for a scan of it alone. */
function partitionStart({ circle }: Pick<Scanned, 'circle'>, partition: number): ScanPosition {
  const arc = circle?.arcOf(partition) ?? undefined;
  return { partition, at: new Uint8Array(), ...(arc && { arc }) };
}

/**
 * Returns where a scan begins, or continues after `position`; null when nothing is left. `only`:
 * the one partition that it reads. Throws CURSOR_INVALID like currentPosition.
 */
export function startOfScan(
  scanned: Scanned,
  shapes: Shapes,
  { only, position }: { readonly only: number | null; readonly position: ScanPosition | null },
): ScanPosition | null {
  if (position === null)
    return only === null ? firstPosition(scanned) : partitionStart(scanned, only);
  // The end of a range is the first key of the next one, which is not read.
  if (only !== null && isOrdered(scanned.partitioner)) return { partition: only, at: position.at };
  return currentPosition(scanned, shapes, position);
}

/** Whether a scan of this partition alone may continue at the position. */
export function isPositionIn(
  partitioner: Partitioner,
  only: number,
  { partition, at, arc }: ScanPosition,
): boolean {
  if (isOrdered(partitioner)) {
    const { start, end } = intervalOf(partitioner, only) ?? {};
    const isBelow = start instanceof Uint8Array && isBefore(at, start);
    return !isBelow && !(end instanceof Uint8Array && isBefore(end, at));
  }
  if (arc === undefined) return partition === only;
  const circle = circleOf(partitioner);
  // Only its own scans know the arc of a former partition.
  const own = circle === null ? null : (circle.arcOf(only) ?? arc);
  return arc.start === own?.start && arc.end === own.end;
}

/**
 * Returns the position of an earlier answer under the present ring. Throws CURSOR_INVALID for a
 * position of an older program whose partition was split or merged more than once since.
 */
export function currentPosition(
  scanned: Scanned,
  { reshape }: Shapes,
  position: ScanPosition,
): ScanPosition | null {
  const { partitioner, circle, bounds } = scanned;
  if (isOrdered(partitioner)) {
    const restBounds = boundsFrom(bounds, position.at);
    if (isEmpty(restBounds)) return null;
    return { partition: firstRange({ ...scanned, bounds: restBounds }), at: position.at };
  }
  if (circle === null) return position;
  const { partition, arc, cut = cutOf(circle) } = position;
  const circleBefore = reshape?.kind === 'from' ? circleOf(reshape.partitioner) : null;
  const knownArc = arc ?? circle.arcOf(partition) ?? circleBefore?.arcOf(partition);
  if (knownArc === undefined || knownArc === null) throw scanEnded(partition);
  return {
    partition: circle.partitionAt(nextHash(knownArc.start)),
    at: position.at,
    arc: knownArc,
    cut,
  };
}

/** Returns where a scan continues once a position is read to its end; null after the last. */
export function nextPosition(scanned: Scanned, position: ScanPosition): ScanPosition | null {
  const { partitioner, circle, bounds, prefix } = scanned;
  if (isOrdered(partitioner)) return rangeAfter(scanned, position.partition);
  if (isOneTag(partitioner, prefix)) return null;
  if (circle === null) {
    const partition = position.partition + (bounds.reverse ? -1 : 1);
    const isEnd = partition < 0 || partition >= partitionCountOf(partitioner);
    return isEnd ? null : { partition, at: new Uint8Array() };
  }
  const { arc = { start: 0, end: 0 }, cut = cutOf(circle) } = position;
  const from = bounds.reverse ? arc.start : arc.end;
  return from === cut ? null : onCircle(scanned, circle, { from, cut });
}

/** Returns the start of the next arc after a hash, or before it in a reverse scan. */
export function onCircle(
  { bounds }: Pick<Scanned, 'bounds'>,
  { partitionAt: at, arcOf }: HashCircle,
  { from, cut }: { readonly from: number; readonly cut: number },
): ScanPosition & { readonly arc: HashArc } {
  const partition = at(bounds.reverse ? from : nextHash(from));
  const { start, end } = arcOf(partition) ?? { start: cut, end: cut };
  const position = { partition, at: new Uint8Array(), cut };
  if (bounds.reverse) {
    const isCut = hashesBetween(cut, from) < hashesBetween(start, from);
    return { ...position, arc: { start: isCut ? cut : start, end: from } };
  }
  const isCut = hashesBetween(from, cut) < hashesBetween(from, end);
  return { ...position, arc: { start: from, end: isCut ? cut : end } };
}

/** Returns the hash after which scans begin: no arc of equal partitions crosses it. */
export function cutOf({ partitionAt: at, arcOf }: HashCircle): number {
  return arcOf(at(0))?.end === 0 ? 0 : hashPositions - 1;
}

/** Returns the rest of the bounds at a position; for ranges, only the part within one range. */
export function boundsAt({ partitioner, bounds }: Scanned, position: ScanPosition): KeyBounds {
  const restBounds = boundsFrom(bounds, position.at);
  return isOrdered(partitioner)
    ? withinRange(restBounds, partitioner, position.partition)
    : restBounds;
}

/** Returns the part of the bounds in a range; all of them when the range no longer exists. */
export function withinRange(bounds: KeyBounds, partitioner: Partitioner, id: number): KeyBounds {
  const { start, end } = intervalOf(partitioner, id) ?? {};
  const { from, to, reverse } = bounds;
  const isLate = start instanceof Uint8Array && isBefore(from, start);
  const isEarly = end instanceof Uint8Array && (to === null || isBefore(end, to));
  return { from: isLate ? start : from, to: isEarly ? end : to, reverse };
}

export function scanEnded(partition: number): CodedError {
  const where = `partition ${partition}, which the scan has reached`;
  const message = `${where}, was split or merged since, more than once`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'start the scan again, without a cursor',
    details: { partition },
  });
}

function firstRange({ partitioner, partitionOf, bounds }: Scanned): number {
  const { from, to, reverse } = bounds;
  if (!reverse) return partitionOf(from);
  if (to === null) return partitionAtIndex(partitioner, liveCountOf(partitioner) - 1);
  const last = partitionOf(to);
  if (isBefore(startOf(partitioner, last), to)) return last;
  return neighbour(partitioner, last, -1) ?? last;
}

function rangeAfter({ partitioner, bounds }: Scanned, partition: number): ScanPosition | null {
  if (bounds.reverse) {
    const start = startOf(partitioner, partition);
    if (!isBefore(bounds.from, start)) return null;
    const before = neighbour(partitioner, partition, -1);
    return before === null ? null : { partition: before, at: start };
  }
  const next = neighbour(partitioner, partition, 1);
  if (next === null) return null;
  const at = startOf(partitioner, next);
  return bounds.to === null || isBefore(at, bounds.to) ? { partition: next, at } : null;
}

/** Returns the first key of a range; empty for the first range, and for other partitions. */
export function startOf(partitioner: Partitioner, partition: number): Uint8Array {
  const start = intervalOf(partitioner, partition)?.start;
  return start instanceof Uint8Array ? start : new Uint8Array();
}

/** Whether all keys with the prefix have the same hashed part. */
function isOneTag(partitioner: Partitioner, prefix: Uint8Array): boolean {
  if (partitioner.kind !== 'hash-intervals' || partitioner.hashKey === undefined) return false;
  return hashedPartOf(partitioner.hashKey)(prefix).length < prefix.length;
}

function neighbour(partitioner: Partitioner, partition: number, step: 1 | -1): number | null {
  const ids = isIntervals(partitioner) ? partitioner.ids : undefined;
  const at = (ids === undefined ? partition : ids.indexOf(partition)) + step;
  return at < 0 || at >= liveCountOf(partitioner) ? null : partitionAtIndex(partitioner, at);
}

function partitionAtIndex(partitioner: Partitioner, index: number): number {
  return isIntervals(partitioner) ? (partitioner.ids?.[index] ?? index) : index;
}

function isBefore(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) < 0;
}
