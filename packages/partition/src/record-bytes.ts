// The bytes of a record in the commit log, which are also the bytes its hash is taken over. Pure.
import { hash } from 'node:crypto';
import { type Stamp, stampMsMax, stampTieMax } from '@ringwright/base/stamp';

// key length 2 | key | ms 6 | tie 5 | tombstone flag 1 | value. All numbers big-endian.
const FIXED_BYTES = 14;
const TOMBSTONE = 1;

export interface RecordContent extends Stamp {
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}

export function recordLength(record: RecordContent): number {
  return FIXED_BYTES + record.key.length + (record.value === null ? 0 : record.value.length);
}

/** Writes the record at `offset`, which must leave recordLength bytes; returns the end offset. */
export function encodeRecord(record: RecordContent, target: Buffer, offset: number): number {
  const { key, value, ms, tie } = record;
  target.writeUInt16BE(key.length, offset);
  target.set(key, offset + 2);
  const stamp = offset + 2 + key.length;
  target.writeUIntBE(ms, stamp, 6);
  target.writeUIntBE(tie, stamp + 6, 5);
  target[stamp + 11] = value === null ? TOMBSTONE : 0;
  if (value === null) return stamp + 12;
  target.set(value, stamp + 12);
  return stamp + 12 + value.length;
}

/** The record in [start, end), as views into `source`; null when the bytes are no record. */
export function decodeRecord(
  source: Buffer,
  start: number,
  end: number,
): { key: Buffer; value: Buffer | null; ms: number; tie: number } | null {
  if (end - start < FIXED_BYTES) return null;
  const stamp = start + 2 + source.readUInt16BE(start);
  if (stamp + 12 > end) return null;
  const flag = source[stamp + 11];
  if (flag !== 0 && (flag !== TOMBSTONE || stamp + 12 !== end)) return null;
  return {
    key: source.subarray(start + 2, stamp),
    value: flag === TOMBSTONE ? null : source.subarray(stamp + 12, end),
    ms: source.readUIntBE(stamp, 6),
    tie: source.readUIntBE(stamp + 6, 5),
  };
}

/** First 8 bytes of SHA-256 over encoded record bytes. */
export function hashRecordBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(hash('sha256', bytes, 'binary').slice(0, 8), 'latin1');
}

let scratch = Buffer.allocUnsafe(4096);

/** The row hash of a record. */
export function hashRecord(record: RecordContent): Buffer {
  const length = recordLength(record);
  if (length > scratch.length) scratch = Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(length)));
  return hashRecordBytes(scratch.subarray(0, encodeRecord(record, scratch, 0)));
}

/**
 * Whether a stored row is a record at all and matches its hash; a flipped bit may change even its
 * types.
 */
export function matchesHash(record: RecordContent, rowHash: Buffer): boolean {
  const { key, value, ms, tie } = record;
  const isRecord =
    key instanceof Uint8Array &&
    key.length <= 0xffff &&
    (value === null || value instanceof Uint8Array) &&
    isWholeUpTo(ms, stampMsMax) &&
    isWholeUpTo(tie, stampTieMax);
  return isRecord && isRowHash(rowHash) && hashRecord(record).equals(rowHash);
}

export function isRowHash(rowHash: Buffer): boolean {
  return rowHash instanceof Buffer && rowHash.length === 8;
}

export function isWholeUpTo(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}
