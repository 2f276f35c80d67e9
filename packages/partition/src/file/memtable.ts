// The rows of one partition that are durable in the log and not yet in its file, by key.
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import type { Stamp } from '@ringwright/base/stamp';
import type { RecordContent, StoredRecord } from './record.ts';

/** A record with its row hash, ready to be compared and stored. */
export interface HashedRecord extends RecordContent {
  /** Nobody writes to the bytes any more: they may wait in memory as they are. */
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly hash: Buffer;
  /** No record: Write.isPromise. */
  readonly isPromise: boolean;
  /** Whether the value is long and nobody else sees its memory: that may go with the row. */
  readonly isFreed?: boolean;
}

/** What `apply` needs to know of the row that a key has now. */
export interface HeldRow extends Stamp {
  readonly valueBytes: number | null;
  readonly hash: Buffer;
  /** Sequence number of the row in the file that this one replaces; null when there is none. */
  readonly replaces: number | null;
}

/** A row as memory holds it: nobody writes to its bytes any more. */
export interface PendingRow extends StoredRecord, HeldRow {
  /** HashedRecord.isFreed, until somebody has been given the row. */
  isFreed: boolean;
}

/** What a row takes besides its bytes: the objects, their place in the map, the hash. */
const ROW_OVERHEAD_BYTES = 700;

/** A memtable as in log-structured stores, but in front of a B-tree and small. */
export class Memtable {
  readonly #rows = new Map<string, PendingRow>();
  #bytes = 0;
  /** Whether the Map has them in the order of their numbers. */
  #isOrdered = true;

  get size(): number {
    return this.#rows.size;
  }

  /** Memory taken, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** By byteText of the key; its value is not looked at. */
  find(name: string): HeldRow | undefined {
    return this.#rows.size === 0 ? undefined : this.#rows.get(name);
  }

  /** By byteText of the key. Whoever is given it may keep it: only the collector frees its value. */
  lend(name: string): PendingRow | undefined {
    if (this.#rows.size === 0) return undefined;
    const row = this.#rows.get(name);
    if (row !== undefined) row.isFreed = false;
    return row;
  }

  /** Puts a row in the place of the one with its key. */
  put(name: string, row: PendingRow): void {
    const held = this.#rows.get(name);
    if (held !== undefined) {
      // Where a Map keeps the place of a key, it costs half of moving it to the end.
      this.#isOrdered = false;
      this.#bytes -= bytesOf(held);
      free(held);
    }
    this.#rows.set(name, row);
    this.#bytes += bytesOf(row);
  }

  /** In the order of their numbers; nobody keeps their values. */
  values(): Iterable<PendingRow> {
    return this.#isOrdered ? this.#rows.values() : this.#above(0);
  }

  /** Those numbered above `seq`, in that order, lent. */
  lendSince(seq: number): PendingRow[] {
    const rows = this.#above(seq);
    for (const row of rows) row.isFreed = false;
    return rows;
  }

  #above(seq: number): PendingRow[] {
    const rows = [...this.#rows.values()].filter((row) => row.seq > seq);
    return this.#isOrdered ? rows : rows.sort((a, b) => a.seq - b.seq);
  }

  clear(): void {
    for (const row of this.#rows.values()) free(row);
    this.#rows.clear();
    this.#bytes = 0;
    this.#isOrdered = true;
  }
}

export function pendingRow(
  row: HashedRecord,
  { seq, held }: { readonly seq: number; readonly held: HeldRow | null },
): PendingRow {
  const { key, value, ms, tie, expiresMs, origin, hash, isFreed = false } = row;
  const valueBytes = value?.length ?? null;
  const replaces = held?.replaces ?? null;
  return { key, value, ms, tie, expiresMs, origin, hash, valueBytes, seq, replaces, isFreed };
}

/** Nobody finds the row any more: its value would only make the collector run. */
function free({ value, isFreed }: PendingRow): void {
  if (isFreed && value !== null) freeOwnBytes(value);
}

function bytesOf({ key, value }: PendingRow): number {
  return ROW_OVERHEAD_BYTES + 2 * key.length + (value?.length ?? 0);
}
