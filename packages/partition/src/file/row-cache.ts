// Recently read rows of one partition file. Reading one again needs neither SQLite nor a hash of
// its bytes.
import { freedOtherBytesMax } from '@ringwright/base/free-bytes';
import { rowCachesBytesMax } from '@ringwright/base/limits-store';
import type { HeldRow } from './memtable.ts';
import type { HashedRow, StoredRecord } from './record.ts';
import { decodeContent, encodeRecord, recordLength } from './record-bytes.ts';

/** A row as the file has it: `replaces` is its own sequence. */
export interface CachedRow extends StoredRecord, HeldRow {}

/** Share of a cache that one row may take: a longer one would push out too many others. */
const ROW_SHARE_MAX = 1 / 4;
/** Memory per row besides its bytes: a view of them, its key as text, its map entry. */
const ROW_OVERHEAD_BYTES = 200;
/** Rows share chunks of memory: with a buffer of its own each would take 1.8 KB. */
const PIECE_BYTES_MAX = 16 * 1024;
/** Minimum number of chunks, since a cache has only 8 KiB where thousands of files are open. */
const PIECES = 4;

// sequence 6 | row hash 8 | record, big-endian.
const HASH_AT = 6;
const RECORD_AT = 14;

/**
 * A generational cache. A row that is read moves to the young generation. When that has half of the
 * bytes, it replaces the old generation, whose rows are discarded.
 */
export class RowCache {
  #young = new Map<string, Buffer>();
  #old = new Map<string, Buffer>();
  #youngBytes = 0;
  #bytesMax = rowCachesBytesMax;
  /** The unused rest of the last chunk. */
  #free = Buffer.alloc(0);

  /** Approximate bytes of both generations. */
  limit(bytesMax: number): void {
    this.#bytesMax = bytesMax;
  }

  /** Looks up by byteText of the key. */
  find(name: string): CachedRow | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return decode(young);
    const old = this.#old.get(name);
    if (old === undefined) return undefined;
    const row = decode(old);
    // A long row has a chunk to itself, and takes it along.
    if (old.length >= PIECE_BYTES_MAX) this.#add(name, old);
    else this.keep(name, row);
    return row;
  }

  /** Caches a row as the file has it. */
  keep(name: string, row: HashedRow): void {
    const length = RECORD_AT + recordLength(row);
    if (length > this.#bytesMax * ROW_SHARE_MAX) return;
    const bytes = this.#allocate(length);
    bytes.writeUIntBE(row.seq, 0, 6);
    bytes.set(row.hash, HASH_AT);
    encodeRecord(row, bytes, RECORD_AT);
    this.#add(name, bytes);
  }

  #add(name: string, bytes: Buffer): void {
    this.#young.set(name, bytes);
    this.#youngBytes += ROW_OVERHEAD_BYTES + bytes.length;
    if (this.#youngBytes * 2 < this.#bytesMax) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }

  /**
   * No chunk is reused: a caller may still be reading a row in it. And no row fills a chunk alone:
   * freeOwnBytes, which frees long values after their last use, would free the chunk.
   */
  #allocate(bytes: number): Buffer {
    if (bytes > this.#free.length) {
      const piece = Math.min(PIECE_BYTES_MAX, Math.floor(this.#bytesMax / PIECES));
      this.#free = Buffer.allocUnsafeSlow(Math.max(bytes + freedOtherBytesMax + 1, piece));
    }
    const allocated = this.#free.subarray(0, bytes);
    this.#free = this.#free.subarray(bytes);
    return allocated;
  }

  /** Called when the file is about to get another row of this key. */
  forget(name: string): void {
    if (this.#young.size > 0) this.#young.delete(name);
    if (this.#old.size > 0) this.#old.delete(name);
  }

  /** Frees everything. */
  clear(): void {
    if (this.#youngBytes === 0 && this.#old.size === 0) return;
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = 0;
    this.#free = Buffer.alloc(0);
  }
}

function decode(bytes: Buffer): CachedRow {
  const seq = bytes.readUIntBE(0, 6);
  const hash = bytes.subarray(HASH_AT, RECORD_AT);
  const content = decodeContent(bytes, RECORD_AT, bytes.length);
  return { ...content, seq, hash, valueBytes: content.value?.length ?? null, replaces: seq };
}
