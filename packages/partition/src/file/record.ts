// Records and writes: what goes into a store and comes out of it. Pure.
import type { Stamp } from '@ringwright/base/stamp';
import type { PartitionRef } from './data-paths.ts';

/** One write of one key; a null value is a deletion. Last write wins by (ms, tie). */
export interface Write extends Stamp, PartitionRef {
  /** 1 to keyBytesMax bytes. Copied at the call: the caller may reuse the array. */
  readonly key: Uint8Array;
  /** 0 to valueBytesMax bytes, or null to delete. */
  readonly value: Uint8Array | null;
  /** Unix ms from which the record counts as deleted; 0 or absent: never. */
  readonly expiresMs?: number | undefined;
  /** See RecordContent.origin. */
  readonly origin?: Stamp | null | undefined;
  /**
   * Not a record but a promise, as durable as a record: from now on no record of this key stamped
   * below it is accepted. Its value is null.
   */
  readonly isPreparedBallot?: boolean | undefined;
}

/** The result of a write, once it is durable. */
export type WriteOutcome =
  /** The record now holds this write. */
  | { readonly kind: 'applied' }
  /** The record held this very stamp already: nothing changed. */
  | { readonly kind: 'same' }
  /** The record holds something newer, with this stamp. */
  | { readonly kind: 'stale'; readonly ms: number; readonly tie: number }
  /** A promise with this higher stamp keeps the write out. */
  | { readonly kind: 'promised'; readonly ms: number; readonly tie: number }
  /** This device has no file of the partition. */
  | { readonly kind: 'absent' };

/** A record; value null is a tombstone. */
export interface RecordContent extends Stamp {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
  /** Unix ms from which the record counts as deleted; 0: never. */
  readonly expiresMs: number;
  /**
   * The stamp it was first written with, if it was stored again unchanged under a higher one; null:
   * its own stamp.
   */
  readonly origin: Stamp | null;
}

/** A record as stored: `seq` numbers the writes of one incarnation. */
export interface StoredRecord extends RecordContent {
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly seq: number;
}

export interface HashedRow extends StoredRecord {
  /** The row hash: equal hashes mean equal records. */
  readonly hash: Buffer;
}

/** Whether a record counts as deleted at that time. */
export function isDeletedAt(
  record: { readonly value: Uint8Array | null; readonly expiresMs?: number | undefined },
  nowMs: number,
): boolean {
  const { value, expiresMs = 0 } = record;
  return value === null || (expiresMs > 0 && expiresMs <= nowMs);
}

/** A promise that no record of its key has caught up with. */
export interface PreparedBallot extends Stamp {
  readonly key: Buffer;
}

/** A record without its value: what a replica offers to its peers. */
export interface StoredStamp extends Stamp {
  readonly key: Buffer;
  readonly seq: number;
}

/**
 * Part of a partition in sequence order. The next page begins after `lastSeq` if `more` is true.
 */
export interface RowsPage<Row> {
  readonly rows: readonly Row[];
  readonly lastSeq: number;
  readonly more: boolean;
}

/** Limits of one page; it has at least one row all the same. */
export interface PageBounds {
  readonly rowsMax: number;
  readonly bytesMax: number;
}

/**
 * Bytes of the values that rows may still replace in this turn. To find out what a key holds takes
 * 0.5 ms for a value of 1 MiB, since its hash is stored behind it, and the flush as long again.
 */
export interface ReplacedShare {
  bytesLeft: number;
}

export const wholeShare: ReplacedShare = { bytesLeft: Number.POSITIVE_INFINITY };
