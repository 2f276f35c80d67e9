// The bytes of a record in the commit log. The row hash covers the same bytes, and packed
// partitions carry them: a change here changes the wire format too. Pure.
import { createHash, hash } from 'node:crypto';
import { asBuffer } from '@ringwright/base/as-buffer';
import { type Stamp, stampMsMax, stampTieMax } from '@ringwright/base/stamp';
import { rowHashBytes } from './digest.ts';
import type { HashedRecord } from './memtable.ts';
import type { RecordContent, Write } from './record.ts';

// key length 2 | key | ms 6 | tie 5 | flags 1 | expiry 6? | origin ms 6, tie 5? | value. All
// numbers are big-endian. A record without expiry and origin has the same bytes and hash as before
// these fields existed.
const FIXED_BYTES = 14;
const STAMP_AND_FLAGS_BYTES = 12;
const EXPIRY_BYTES = 6;
const ORIGIN_BYTES = 11;
const TOMBSTONE = 1;
const EXPIRES = 2;
const ORIGIN = 4;
const PROMISE = 8;

/** A record, or a write that leaves out the fields it does not need. */
export type EncodableRecord = Omit<Write, 'keyspace' | 'partition'>;

export function recordLength({ key, value, expiresMs, origin }: EncodableRecord): number {
  const options = (expiresMs ? EXPIRY_BYTES : 0) + (origin ? ORIGIN_BYTES : 0);
  return FIXED_BYTES + key.length + options + (value === null ? 0 : value.length);
}

/** Writes the record at `offset`, where recordLength bytes must be free. Returns the end offset. */
export function encodeRecord(record: EncodableRecord, target: Buffer, offset: number): number {
  const at = encodeHead(record, target, offset);
  if (record.value === null) return at;
  target.set(record.value, at);
  return at + record.value.length;
}

/** Writes everything but the value. */
function encodeHead(record: EncodableRecord, target: Buffer, offset: number): number {
  const { key, ms, tie, expiresMs, origin } = record;
  target.writeUInt16BE(key.length, offset);
  target.set(key, offset + 2);
  let at = offset + 2 + key.length;
  at = target.writeUIntBE(ms, at, 6);
  at = target.writeUIntBE(tie, at, 5);
  target[at] = flagsOf(record);
  at += 1;
  if (expiresMs) at = target.writeUIntBE(expiresMs, at, 6);
  if (origin) {
    at = target.writeUIntBE(origin.ms, at, 6);
    at = target.writeUIntBE(origin.tie, at, 5);
  }
  return at;
}

function flagsOf({ value, expiresMs, origin, isPreparedBallot }: EncodableRecord): number {
  const options =
    (expiresMs ? EXPIRES : 0) | (origin ? ORIGIN : 0) | (isPreparedBallot ? PROMISE : 0);
  return options | (value === null ? TOMBSTONE : 0);
}

export function isRecord(source: Buffer, start: number, end: number): boolean {
  if (end - start < FIXED_BYTES) return false;
  const at = stampAt(source, start);
  if (at + STAMP_AND_FLAGS_BYTES > end) return false;
  const flags = source[at + 11] ?? 0;
  const value = at + STAMP_AND_FLAGS_BYTES + optionBytes(flags);
  if (flags > 15 || value > end || (flags & TOMBSTONE && value !== end)) return false;
  return !(flags & PROMISE) || flags === (PROMISE | TOMBSTONE);
}

function stampAt(source: Buffer, start: number): number {
  return start + 2 + source.readUInt16BE(start);
}

function optionBytes(flags: number): number {
  return (flags & EXPIRES ? EXPIRY_BYTES : 0) + (flags & ORIGIN ? ORIGIN_BYTES : 0);
}

/** Decodes the record in [start, end), which must be valid, as views into `source`. */
export function decodeRecord(source: Buffer, start: number, end: number): HashedRecord {
  const isPreparedBallot = ((source[stampAt(source, start) + 11] ?? 0) & PROMISE) !== 0;
  const hash = hashRecordBytes(source.subarray(start, end));
  return { ...decodeContent(source, start, end), isPreparedBallot, hash };
}

/** Like decodeRecord, without the fields that are not stored and without the hash. */
export function decodeContent(
  source: Buffer,
  start: number,
  end: number,
): Pick<HashedRecord, keyof RecordContent> {
  const at = stampAt(source, start);
  const flags = source[at + 11] ?? 0;
  const expiry = at + STAMP_AND_FLAGS_BYTES;
  const origin = expiry + (flags & EXPIRES ? EXPIRY_BYTES : 0);
  return {
    key: source.subarray(start + 2, at),
    value: flags & TOMBSTONE ? null : source.subarray(expiry + optionBytes(flags), end),
    ms: source.readUIntBE(at, 6),
    tie: source.readUIntBE(at + 6, 5),
    expiresMs: flags & EXPIRES ? source.readUIntBE(expiry, 6) : 0,
    origin:
      flags & ORIGIN
        ? { ms: source.readUIntBE(origin, 6), tie: source.readUIntBE(origin + 6, 5) }
        : null,
  };
}

/** In a pack each record follows its length. */
const LENGTH_BYTES = 4;

export function packRecords(records: readonly EncodableRecord[]): Buffer {
  const bytes = records.reduce((sum, record) => sum + LENGTH_BYTES + recordLength(record), 0);
  const packed = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const record of records) {
    const end = encodeRecord(record, packed, at + LENGTH_BYTES);
    packed.writeUInt32BE(end - at - LENGTH_BYTES, at);
    at = end;
  }
  return packed;
}

/**
 * Returns the records in order, as views of `packed` with computed hashes; null if the bytes are
 * not whole records.
 */
export function unpackRecords(packed: Uint8Array): HashedRecord[] | null {
  const source = asBuffer(packed);
  const records: HashedRecord[] = [];
  for (let at = 0; at < source.length; ) {
    const start = at + LENGTH_BYTES;
    if (start > source.length) return null;
    const end = start + source.readUInt32BE(at);
    if (end > source.length || !isRecord(source, start, end)) return null;
    records.push(decodeRecord(source, start, end));
    at = end;
  }
  return records;
}

/** First 8 bytes of SHA-256 over encoded record bytes. */
export function hashRecordBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary').slice(0, 8), 'latin1');
}

/** From this size on a hash object costs less than a copy. */
const LONG_VALUE_BYTES = 16 * 1024;

let scratch = Buffer.allocUnsafe(4096);

export function hashRecord(record: RecordContent): Buffer {
  const { value } = record;
  if (value !== null && value.length >= LONG_VALUE_BYTES) return hashLong(record, value);
  const length = recordLength(record);
  if (length > scratch.length) scratch = Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(length)));
  return hashRecordBytes(scratch.subarray(0, encodeRecord(record, scratch, 0)));
}

/** The same hash, without copying the value. */
function hashLong(record: RecordContent, value: Uint8Array): Buffer {
  const head = Buffer.allocUnsafe(recordLength(record) - value.length);
  encodeHead(record, head, 0);
  return createHash('sha256').update(head).update(value).digest().subarray(0, 8);
}

/**
 * Whether a stored row is a valid record and matches its hash. A flipped bit may change even its
 * column types.
 */
export function matchesHash(record: RecordContent, rowHash: Buffer): boolean {
  const { key, value, expiresMs, origin } = record;
  const isRecord =
    key instanceof Uint8Array &&
    key.length <= 0xffff &&
    (value === null || value instanceof Uint8Array) &&
    isStamp(record) &&
    isWholeUpTo(expiresMs, stampMsMax) &&
    (origin === null || isStamp(origin));
  return isRecord && isRowHash(rowHash) && hashRecord(record).equals(rowHash);
}

export function isStamp({ ms, tie }: Stamp): boolean {
  return isWholeUpTo(ms, stampMsMax) && isWholeUpTo(tie, stampTieMax);
}

export function isRowHash(rowHash: Buffer): boolean {
  return rowHash instanceof Buffer && rowHash.length === rowHashBytes;
}

export function isWholeUpTo(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
