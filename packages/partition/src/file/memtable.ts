// The rows of one partition that are durable in the log and not yet in its file, by key.
import { asBuffer } from '@ringwright/base/as-buffer';
import type { Stamp } from '@ringwright/base/stamp';
import type { StoredRecord } from './record.ts';
import type { RecordContent } from './record-bytes.ts';

/** A record with its row hash, ready to be compared and stored. */
export interface HashedRecord extends RecordContent {
  readonly hash: Buffer;
  /** No record: Write.isPromise. */
  readonly isPromise: boolean;
}

/** A row as memory holds it: its bytes stay as they are, while a batch of the log is reused. */
export interface PendingRow extends StoredRecord {
  readonly hash: Buffer;
  /** Sequence number of the row in the file that this one replaces; null when there is none. */
  readonly replaces: number | null;
}

/** What `apply` needs to know of the row that a key has now. */
export interface HeldRow extends Stamp {
  readonly valueBytes: number | null;
  readonly hash: Buffer;
  readonly replaces: number | null;
}

/** What a row takes besides its bytes: the objects, their place in the map, the hash. */
const ROW_OVERHEAD_BYTES = 700;

/** A memtable as in log-structured stores, but in front of a B-tree and small. */
export class Memtable {
  readonly #rows = new Map<string, PendingRow>();
  #bytes = 0;

  get size(): number {
    return this.#rows.size;
  }

  /** Memory taken, about. */
  get bytes(): number {
    return this.#bytes;
  }

  find(key: Uint8Array): PendingRow | undefined {
    return this.#rows.size === 0 ? undefined : this.#rows.get(nameOf(key));
  }

  /** What writes to the key are compared with; null: it has no row here. */
  held(key: Uint8Array): HeldRow | null {
    const row = this.find(key);
    if (row === undefined) return null;
    const { ms, tie, value, hash, replaces } = row;
    return { ms, tie, valueBytes: value?.length ?? null, hash, replaces };
  }

  /** Puts a row in the place of the one with its key. Rows stay in the order of their numbers. */
  put(row: PendingRow): void {
    const name = nameOf(row.key);
    const held = this.#rows.get(name);
    if (held !== undefined) {
      this.#rows.delete(name);
      this.#bytes -= bytesOf(held);
    }
    this.#rows.set(name, row);
    this.#bytes += bytesOf(row);
  }

  values(): IterableIterator<PendingRow> {
    return this.#rows.values();
  }

  clear(): void {
    this.#rows.clear();
    this.#bytes = 0;
  }
}

export interface RowPlace {
  readonly seq: number;
  readonly replaces: number | null;
  /** Nobody writes to the bytes of the row as long as it waits: they need not be copied. */
  readonly bytesStay: boolean;
}

export function pendingRow(row: HashedRecord, place: RowPlace): PendingRow {
  const { ms, tie, expiresMs, origin, hash } = row;
  const { key, value } = place.bytesStay ? viewed(row) : copied(row);
  const { seq, replaces } = place;
  return { key, value, ms, tie, expiresMs, origin, hash, seq, replaces };
}

type RowBytes = Pick<PendingRow, 'key' | 'value'>;

function viewed({ key, value }: HashedRecord): RowBytes {
  return { key: asBuffer(key), value: value === null ? null : asBuffer(value) };
}

function copied({ key, value }: HashedRecord): RowBytes {
  const bytes = Buffer.allocUnsafe(key.length + (value?.length ?? 0));
  bytes.set(key, 0);
  if (value !== null) bytes.set(value, key.length);
  return {
    key: bytes.subarray(0, key.length),
    value: value === null ? null : bytes.subarray(key.length),
  };
}

function nameOf(key: Uint8Array): string {
  return asBuffer(key).toString('latin1');
}

function bytesOf({ key, value }: PendingRow): number {
  return ROW_OVERHEAD_BYTES + 2 * key.length + (value?.length ?? 0);
}
