// Cursors of SCAN: numbers that clients send back to any server, or never.
import { randomInt } from 'node:crypto';
import { redisCursorsMax } from '@ringwright/base/limits';
import {
  circleOf,
  type HashArc,
  type HashCircle,
  hashesBetween,
} from '@ringwright/ring/partitioner/hash-circle';
import { hashPositions } from '@ringwright/ring/partitioner/hash-intervals';
import { intervalOf } from '@ringwright/ring/partitioner/intervals-of';
import {
  cutOf,
  onCircle,
  type ScanPosition,
  startOf,
} from '@ringwright/ring/partitioner/scan-order';
import type { Ring } from '@ringwright/ring/ring';

type CursorRing = Pick<Ring, 'keyspace' | 'partitions' | 'partitioner'>;

/** Number of slices into which the keys of a stretch fall, by a hash of the key. */
export const stretchSlices = 32;

/** Where a SCAN goes on. */
export interface ScanStart {
  /** Null: at the first key. */
  readonly place: ScanPosition | null;
  /**
   * Null: in the order of keys. Otherwise from this slice on, in the stretch that begins at
   * `place`.
   */
  readonly slice: number | null;
}

/**
 * A cursor is 2^52 + start * places + place. The 2^52 distinguishes it from cursors of older
 * programs, and JavaScript represents the sum exactly. The start is a partition, of which there are
 * up to 2^24. On a circle of hashes it is one of 2^16 cells, and a bit that says on which side of
 * hash 0 the scan began.
 */
const FORMAT = 2 ** 52;
const PARTITION_PLACES = 2 ** 28;
const CELL_PLACES = 2 ** 35;
const CELL_HASHES = 2 ** 16;
/** A place below this encodes a slice and a number of cells. */
const SLICE_PLACES = stretchSlices * 2 ** 16;

/** SCAN has no other direction. */
export const forward = { from: new Uint8Array(), to: null, reverse: false } as const;

/**
 * Place 0 is the start itself. Such a cursor needs no memory and is valid on every server, as is
 * one that encodes a slice. Other places are numbered at random and remembered here; the oldest is
 * forgotten first. A number that is not remembered means the whole stretch from its start.
 */
export class ScanCursors {
  readonly #places = new Map<number, { readonly keyspace: string; readonly place: ScanPosition }>();

  /** Returns null if the number is not a cursor of the ring's keyspace. */
  read(cursor: number, ring: CursorRing): ScanStart | null {
    if (cursor === 0) return { place: null, slice: null };
    const known = this.#places.get(cursor);
    if (known?.keyspace === ring.keyspace) return { place: known.place, slice: null };
    if (!Number.isSafeInteger(cursor) || cursor < FORMAT) return null;
    const circle = circleOf(ring.partitioner);
    const places = circle === null ? PARTITION_PLACES : CELL_PLACES;
    const place = cursor % places;
    const sliced = place < SLICE_PLACES ? place : 0;
    const parts = {
      start: Math.floor((cursor - FORMAT) / places),
      slice: place === 0 ? null : sliced % stretchSlices,
      cells: sliced === 0 ? null : Math.floor(sliced / stretchSlices) + 1,
    };
    return circle === null ? startOfPartition(parts, ring) : startOfCells(parts, circle);
  }

  /**
   * Returns the cursor of a place, or of a slice of the stretch that begins there; 0: the scan
   * ended.
   */
  write({ place, slice }: ScanStart, { keyspace, partitioner }: CursorRing): number {
    if (place === null) return 0;
    const circle = circleOf(partitioner);
    const { start, isExact } =
      circle === null ? partitionAt(place, partitioner) : cellAt(place, circle);
    const places = circle === null ? PARTITION_PLACES : CELL_PLACES;
    const first = FORMAT + start * places;
    if (slice !== null) return first + slice + stretchSlices * (cellsIn(place.arc) - 1);
    if (isExact) return first;
    let cursor = first;
    while (cursor === first || this.#places.has(cursor)) {
      cursor = first + randomInt(SLICE_PLACES, places);
    }
    // Copied, because the key is a view of a whole frame.
    this.#places.set(cursor, { keyspace, place: { ...place, at: Uint8Array.from(place.at) } });
    const [oldest] = this.#places.keys();
    if (this.#places.size > redisCursorsMax && oldest !== undefined) this.#places.delete(oldest);
    return cursor;
  }
}

interface CursorParts {
  readonly start: number;
  /** As in ScanStart. */
  readonly slice: number | null;
  /** Number of cells of a stretch whose slices are being returned; null: none are. */
  readonly cells: number | null;
}

interface CursorStart {
  readonly start: number;
  /** Whether the place is the start itself, and not behind it. */
  readonly isExact: boolean;
}

function partitionAt(
  { partition, at }: ScanPosition,
  partitioner: CursorRing['partitioner'],
): CursorStart {
  const isExact = Buffer.compare(at, startOf(partitioner, partition)) === 0;
  return { start: partition, isExact };
}

function startOfPartition(
  { start: partition, slice }: CursorParts,
  { partitions, partitioner }: CursorRing,
): ScanStart | null {
  if (partition >= partitions) return null;
  // The range was split or merged since. Its start is not known any more, so the scan starts over.
  const isGone = partitioner.kind === 'ranges' && intervalOf(partitioner, partition) === null;
  if (isGone) return { place: null, slice: null };
  return { place: { partition, at: startOf(partitioner, partition) }, slice };
}

function cellAt({ arc, at, cut }: ScanPosition, circle: HashCircle): CursorStart {
  const began = cut ?? cutOf(circle);
  const hashesRead = hashesBetween(began, arc?.start ?? began) % hashPositions;
  const start = Math.floor(hashesRead / CELL_HASHES) * 2 + (began === 0 ? 0 : 1);
  return { start, isExact: at.length === 0 && hashesRead % CELL_HASHES === 0 };
}

/**
 * The stretch ends with its partition, rounded down to whole cells, which a cursor can express. A
 * stretch whose slices are being returned keeps its end, whatever was split or merged since.
 */
function startOfCells({ start, slice, cells }: CursorParts, circle: HashCircle): ScanStart {
  const cut = start % 2 === 0 ? 0 : hashPositions - 1;
  const from = (cut + Math.floor(start / 2) * CELL_HASHES) % hashPositions;
  const place = onCircle({ bounds: forward }, circle, { from, cut });
  if (slice === null) return { place, slice };
  const hashes = (cells ?? cellsIn(place.arc)) * CELL_HASHES;
  const end = (from + Math.min(hashes, hashesBetween(from, cut))) % hashPositions;
  return { place: { ...place, arc: { start: from, end } }, slice };
}

/** Returns the whole cells of an arc, at least 1; 1 where there is no circle. */
function cellsIn(arc: HashArc | undefined): number {
  const hashes = arc === undefined ? 0 : hashesBetween(arc.start, arc.end);
  return Math.max(1, Math.floor(hashes / CELL_HASHES));
}
