// Records and writes: what goes into a store and comes out of it. Pure.
import type { Stamp } from '@ringwright/base/stamp';

/** One write of one key; a null value is a deletion. Last write wins by (ms, tie). */
export interface Write extends Stamp {
  readonly keyspace: string;
  readonly partition: number;
  /** 1 to keyBytesMax bytes. Copied at the call: the caller may reuse the array. */
  readonly key: Uint8Array;
  /** 0 to valueBytesMax bytes, or null to delete. */
  readonly value: Uint8Array | null;
}

/** What became of a write, once it is durable. */
export type WriteOutcome =
  /** The record now holds this write. */
  | { readonly kind: 'applied' }
  /** The record held this very stamp already: nothing changed. */
  | { readonly kind: 'same' }
  /** The record holds something newer, with this stamp. */
  | { readonly kind: 'stale'; readonly ms: number; readonly tie: number }
  /** This device has no file of the partition. */
  | { readonly kind: 'absent' };

/** A record as stored; value null is a tombstone. `seq` numbers the writes of one incarnation. */
export interface StoredRecord extends Stamp {
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly seq: number;
}

/** A record without its value: what a replica offers to its peers. */
export interface StoredStamp extends Stamp {
  readonly key: Buffer;
  readonly seq: number;
}

/** Part of a partition in sequence order. `lastSeq` is where to go on; `more` says whether to. */
export interface RowsPage<Row> {
  readonly rows: readonly Row[];
  readonly lastSeq: number;
  readonly more: boolean;
}

/** How much of a partition to answer at once; at least one row is always given. */
export interface PageBounds {
  readonly rowsMax: number;
  readonly bytesMax: number;
}
