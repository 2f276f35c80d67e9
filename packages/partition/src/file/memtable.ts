// The rows of one partition that are durable in the log and not yet in its file, by key.
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import type { Stamp } from '@ringwright/base/stamp';
import type { RecordContent, StoredRecord } from './record.ts';

/** A record with its row hash, ready to be compared and stored. */
export interface HashedRecord extends RecordContent {
  /** Key and value bytes are never modified, so they may wait in memory without a copy. */
  readonly key: Buffer;
  readonly value: Buffer | null;
  readonly hash: Buffer;
  /** True for a promise instead of a record: Write.isPreparedBallot. */
  readonly isPreparedBallot: boolean;
  /** Whether the value is long and its memory is not shared, so it can be freed with the row. */
  readonly isFreed?: boolean;
}

/** What `apply` needs to know about the row that a key has now. */
export interface HeldRow extends Stamp {
  readonly valueBytes: number | null;
  readonly hash: Buffer;
  /** Sequence of the row in the file that this row replaces; null if there is none. */
  readonly replaces: number | null;
}

/** A row in memory; its bytes are never modified. */
export interface PendingRow extends StoredRecord, HeldRow {
  /** HashedRecord.isFreed, until the row has been handed out. */
  isFreed: boolean;
}

/** Memory per row besides its bytes: the objects, the map entry, the hash. */
const ROW_OVERHEAD_BYTES = 700;

/** Removing a value from the file costs a tenth of storing one: 0.5 ms for 1 MiB. */
const REMOVAL_SHARE = 1 / 10;

/** Like the memtable of a log-structured store, but small and in front of a B-tree. */
export class Memtable {
  readonly #rows = new Map<string, PendingRow>();
  #bytes = 0;
  /** Whether the Map's order is sequence order. */
  #isOrdered = true;

  get size(): number {
    return this.#rows.size;
  }

  /** Approximate memory in bytes, and a share of the values that the flush will remove. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Looks up by byteText of the key, for callers that do not read the value. */
  find(name: string): HeldRow | undefined {
    return this.#rows.size === 0 ? undefined : this.#rows.get(name);
  }

  /**
   * Looks up by byteText of the key. The caller may keep the row, so its value is left to the
   * garbage collector.
   */
  lend(name: string): PendingRow | undefined {
    if (this.#rows.size === 0) return undefined;
    const row = this.#rows.get(name);
    if (row !== undefined) row.isFreed = false;
    return row;
  }

  /** Adds a row, replacing the one with its key. `held`: what its key holds now. */
  put(
    name: string,
    record: HashedRecord,
    { seq, held }: { readonly seq: number; readonly held: HeldRow | null },
  ): PendingRow {
    const row = pendingRow(record, { seq, held });
    const previous = this.#rows.get(name);
    if (previous !== undefined) {
      // Leaving a key at its place in the Map costs half of moving it to the end.
      this.#isOrdered = false;
      this.#bytes -= bytesOf(previous);
      free(previous);
    } else this.#bytes += (held?.valueBytes ?? 0) * REMOVAL_SHARE;
    this.#rows.set(name, row);
    this.#bytes += bytesOf(row);
    return row;
  }

  /** Rows in sequence order, for callers that do not keep the values. */
  values(): Iterable<PendingRow> {
    return this.#isOrdered ? this.#rows.values() : this.#rowsAfter(0);
  }

  /** Returns the rows above `seq` in sequence order; the caller may keep them. */
  lendSince(seq: number): PendingRow[] {
    const rows = this.#rowsAfter(seq);
    for (const row of rows) row.isFreed = false;
    return rows;
  }

  #rowsAfter(seq: number): PendingRow[] {
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

function pendingRow(
  row: HashedRecord,
  { seq, held }: { readonly seq: number; readonly held: HeldRow | null },
): PendingRow {
  const { key, value, ms, tie, expiresMs, origin, hash, isFreed = false } = row;
  const valueBytes = value?.length ?? null;
  const replaces = held?.replaces ?? null;
  return { key, value, ms, tie, expiresMs, origin, hash, valueBytes, seq, replaces, isFreed };
}

/**
 * Frees the value of a row that nobody can find any more. Left alone it would only trigger the
 * garbage collector.
 */
function free({ value, isFreed }: PendingRow): void {
  if (isFreed && value !== null) freeOwnBytes(value);
}

function bytesOf({ key, value }: PendingRow): number {
  return ROW_OVERHEAD_BYTES + 2 * key.length + (value?.length ?? 0);
}
