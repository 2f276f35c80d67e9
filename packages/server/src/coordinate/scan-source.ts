// Finds the partitions from which a page of a scan is read, whatever was split or merged since the
// scan began.
import { CodedError } from '@ringwright/base/coded-error';
import { isEmpty, type KeyBounds } from '@ringwright/base/key-bounds';
import { scanSourcesMax } from '@ringwright/base/limits-listeners';
import {
  circleOf,
  type HashArc,
  type HashCircle,
  isInArc,
  partitionsOn,
} from '@ringwright/ring/partitioner/hash-circle';
import {
  firstPosition,
  nextPosition,
  scanEnded,
  scannedOf,
  withinRange,
} from '@ringwright/ring/partitioner/scan-order';
import { isRetired } from '@ringwright/ring/reshape-ring';
import type { Ring } from '@ringwright/ring/ring';

interface Wanted extends KeyBounds {
  readonly partition: number;
  readonly arc: HashArc | null;
}

export interface ScanSource {
  readonly partitions: readonly number[];
  readonly bounds: KeyBounds;
  /**
   * Decides whether the scan wants a key of these partitions; null: it wants every key within
   * `bounds`.
   */
  readonly isWanted: ((key: Uint8Array) => boolean) | null;
}

/**
 * Finds the source of a page. An arc says which hashes are wanted. Without an arc, the scan wants
 * what the partition has, or had before the last split or merge. Throws CURSOR_INVALID if the ring
 * no longer knows that. Pure.
 */
export function scanSource(
  ring: Pick<Ring, 'partitioner' | 'partitions' | 'reshape'>,
  { partition, arc, from, to, reverse }: Wanted,
): ScanSource {
  const { partitioner, reshape } = ring;
  const bounds = { from, to, reverse };
  const circle = arc === null && !isRetired(ring)(partition) ? null : circleOf(partitioner);
  if (circle !== null) {
    const formerCircle = reshape?.kind === 'from' ? circleOf(reshape.partitioner) : null;
    const wantedArc = arc ?? formerCircle?.arcOf(partition);
    if (wantedArc === null || wantedArc === undefined) throw scanEnded(partition);
    return onArc(circle, wantedArc, bounds);
  }
  if (!isRetired(ring)(partition)) return { partitions: [partition], bounds, isWanted: null };
  if (partition >= ring.partitions) throw scanEnded(partition);
  const formerPartitioner = reshape?.kind === 'from' ? reshape.partitioner : partitioner;
  return inRange(ring, withinRange(bounds, formerPartitioner, partition));
}

function onArc(circle: HashCircle, arc: HashArc, bounds: KeyBounds): ScanSource {
  const partitions = limited(partitionsOn(circle, arc));
  const [only = -1, ...others] = partitions;
  const fullArc = circle.arcOf(only);
  const isWhole = others.length === 0 && fullArc?.start === arc.start && fullArc.end === arc.end;
  const isWanted = (key: Uint8Array): boolean => isInArc(arc, circle.hashOf(key));
  return { partitions, bounds, isWanted: isWhole ? null : isWanted };
}

/** Returns the partitions that now cover the bounds of a range that was split or merged. */
function inRange(ring: Pick<Ring, 'partitioner'>, bounds: KeyBounds): ScanSource {
  return { partitions: limited(rangesIn(ring, bounds)), bounds, isWanted: null };
}

function* rangesIn(ring: Pick<Ring, 'partitioner'>, bounds: KeyBounds): Generator<number> {
  const scanned = scannedOf(ring, { bounds, prefix: new Uint8Array() });
  const first = isEmpty(bounds) ? null : firstPosition(scanned);
  for (let position = first; position !== null; position = nextPosition(scanned, position)) {
    yield position.partition;
  }
}

/**
 * Throws CURSOR_INVALID for more partitions than a split makes: a client may send any arc, and each
 * partition is read at several devices.
 */
function limited(partitions: Iterable<number>): number[] {
  const found: number[] = [];
  for (const partition of partitions) {
    if (found.length === scanSourcesMax) throw tooManySources();
    found.push(partition);
  }
  return found;
}

function tooManySources(): CodedError {
  const message = `what the scan reads next is in more than ${scanSourcesMax} partitions now`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'start the scan again, without a cursor',
    details: { max: scanSourcesMax },
  });
}
