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
  readonly position: ScanPosition | null;
  /**
   * Null: in the order of keys. Otherwise from this slice on, in the stretch that begins at
   * `position`.
   */
  readonly slice: number | null;
}

/**
 * A cursor is 2^52 + start * codes + code. The 2^52 distinguishes it from cursors of older
 * programs, and JavaScript represents the sum exactly. The start is a partition, of which there are
 * up to 2^24. On a circle of hashes it is one of 2^16 cells, and a bit that says on which side of
 * hash 0 the scan began.
 */
const FORMAT = 2 ** 52;
const PARTITION_CODES = 2 ** 28;
const CELL_CODES = 2 ** 35;
const CELL_HASHES = 2 ** 16;
/** A code below this encodes a slice and a number of cells. */
const SLICE_CODES = stretchSlices * 2 ** 16;

/** SCAN has no other direction. */
export const forward = { from: new Uint8Array(), to: null, reverse: false } as const;

/**
 * Code 0 is the start itself. Such a cursor needs no memory and is valid on every server, as is
 * one that encodes a slice. Other positions are numbered at random and remembered here; the
 * oldest is forgotten first. A number that is not remembered means the whole stretch from its
 * start.
 */
export class ScanCursors {
  readonly #positions = new Map<
    number,
    { readonly keyspace: string; readonly position: ScanPosition }
  >();

  /** Returns null if the number is not a cursor of the ring's keyspace. */
  read(cursor: number, ring: CursorRing): ScanStart | null {
    if (cursor === 0) return { position: null, slice: null };
    const known = this.#positions.get(cursor);
    if (known?.keyspace === ring.keyspace) return { position: known.position, slice: null };
    if (!Number.isSafeInteger(cursor) || cursor < FORMAT) return null;
    const circle = circleOf(ring.partitioner);
    const codes = circle === null ? PARTITION_CODES : CELL_CODES;
    const code = cursor % codes;
    const sliced = code < SLICE_CODES ? code : 0;
    const parts = {
      start: Math.floor((cursor - FORMAT) / codes),
      slice: code === 0 ? null : sliced % stretchSlices,
      cells: sliced === 0 ? null : Math.floor(sliced / stretchSlices) + 1,
    };
    return circle === null ? startOfPartition(parts, ring) : startOfCells(parts, circle);
  }

  /**
   * Returns the cursor of a position, or of a slice of the stretch that begins there; 0: the scan
   * ended.
   */
  write({ position, slice }: ScanStart, { keyspace, partitioner }: CursorRing): number {
    if (position === null) return 0;
    const circle = circleOf(partitioner);
    const { start, isExact } =
      circle === null ? partitionAt(position, partitioner) : cellAt(position, circle);
    const codes = circle === null ? PARTITION_CODES : CELL_CODES;
    const first = FORMAT + start * codes;
    if (slice !== null) return first + slice + stretchSlices * (cellsIn(position.arc) - 1);
    if (isExact) return first;
    let cursor = first;
    while (cursor === first || this.#positions.has(cursor)) {
      cursor = first + randomInt(SLICE_CODES, codes);
    }
    // Copied, because the key is a view of a whole frame.
    this.#positions.set(cursor, {
      keyspace,
      position: { ...position, at: Uint8Array.from(position.at) },
    });
    const [oldest] = this.#positions.keys();
    if (this.#positions.size > redisCursorsMax && oldest !== undefined)
      this.#positions.delete(oldest);
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
  /** Whether the position is the start itself, and not behind it. */
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
  if (isGone) return { position: null, slice: null };
  return { position: { partition, at: startOf(partitioner, partition) }, slice };
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
  const position = onCircle({ bounds: forward }, circle, { from, cut });
  if (slice === null) return { position, slice };
  const hashes = (cells ?? cellsIn(position.arc)) * CELL_HASHES;
  const end = (from + Math.min(hashes, hashesBetween(from, cut))) % hashPositions;
  return { position: { ...position, arc: { start: from, end } }, slice };
}

/** Returns the whole cells of an arc, at least 1; 1 where there is no circle. */
function cellsIn(arc: HashArc | undefined): number {
  const hashes = arc === undefined ? 0 : hashesBetween(arc.start, arc.end);
  return Math.max(1, Math.floor(hashes / CELL_HASHES));
}
