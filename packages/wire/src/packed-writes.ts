// Many writes as one byte array: what each costs as a message of its own, mostly checks and
// objects, is paid once. Pure.
import { keyBytesMax, partitionCountMax, valueBytesMax } from '@ringwright/base/limits';
import { batchedWritesMax } from '@ringwright/base/limits-wire';
import type { RequestOf } from './message.ts';
import type { recordWrite } from './records.ts';

/** One write, without the fields that all writes of a message share. */
export type BatchedWrite = Omit<RequestOf<typeof recordWrite>, 'keyspace' | 'ringVersion'>;

// partition 4 | flags 1 | key length 2 | value length 4 | ms 6 | tie 5 | expiry 6? | origin ms 6,
// tie 5? | key | value. All numbers are big-endian.
const FIXED_BYTES = 22;
const EXPIRY_BYTES = 6;
const ORIGIN_BYTES = 11;
const TOMBSTONE = 1;
const EXPIRES = 2;
const ORIGIN = 4;
const REPAIR = 8;
const FLAGS_MAX = 15;

export function packedWriteBytes({ key, value, expiresMs, origin }: BatchedWrite): number {
  const options = (expiresMs ? EXPIRY_BYTES : 0) + (origin ? ORIGIN_BYTES : 0);
  return FIXED_BYTES + options + key.length + (value?.length ?? 0);
}

export function packWrites(writes: readonly BatchedWrite[]): Uint8Array {
  let length = 0;
  for (const write of writes) length += packedWriteBytes(write);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const write of writes) at = packWrite(write, bytes, at);
  return bytes;
}

function packWrite(write: BatchedWrite, bytes: Buffer, start: number): number {
  const { partition, key, value, ms, tie, expiresMs, origin } = write;
  let at = bytes.writeUInt32BE(partition, start);
  at = bytes.writeUInt8(flagsOf(write), at);
  at = bytes.writeUInt16BE(key.length, at);
  at = bytes.writeUInt32BE(value?.length ?? 0, at);
  at = bytes.writeUIntBE(ms, at, 6);
  at = bytes.writeUIntBE(tie, at, 5);
  if (expiresMs) at = bytes.writeUIntBE(expiresMs, at, 6);
  if (origin) {
    at = bytes.writeUIntBE(origin.ms, at, 6);
    at = bytes.writeUIntBE(origin.tie, at, 5);
  }
  bytes.set(key, at);
  at += key.length;
  if (value === null) return at;
  bytes.set(value, at);
  return at + value.length;
}

function flagsOf({ value, expiresMs, origin, repair }: BatchedWrite): number {
  const options = (expiresMs ? EXPIRES : 0) | (origin ? ORIGIN : 0) | (repair ? REPAIR : 0);
  return options | (value === null ? TOMBSTONE : 0);
}

/** Returns the writes in order, as views of `bytes`; null if they are not whole writes. */
export function unpackWrites(bytes: Uint8Array): BatchedWrite[] | null {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const writes: BatchedWrite[] = [];
  for (let at = 0; at < source.length; ) {
    const unpacked = writes.length < batchedWritesMax ? unpackWrite(source, at) : null;
    if (unpacked === null) return null;
    writes.push(unpacked.write);
    at = unpacked.end;
  }
  return writes.length === 0 ? null : writes;
}

function unpackWrite(source: Buffer, at: number): { write: BatchedWrite; end: number } | null {
  if (at + FIXED_BYTES > source.length) return null;
  const partition = source.readUInt32BE(at);
  const flags = source[at + 4] ?? 0;
  const keyBytes = source.readUInt16BE(at + 5);
  const valueBytes = source.readUInt32BE(at + 7);
  const expiryAt = at + FIXED_BYTES;
  const originAt = expiryAt + (flags & EXPIRES ? EXPIRY_BYTES : 0);
  const keyAt = originAt + (flags & ORIGIN ? ORIGIN_BYTES : 0);
  const valueAt = keyAt + keyBytes;
  const end = valueAt + valueBytes;
  const isDeletion = (flags & TOMBSTONE) !== 0;
  if (end > source.length || flags > FLAGS_MAX || partition >= partitionCountMax) return null;
  if (keyBytes === 0 || keyBytes > keyBytesMax || valueBytes > valueBytesMax) return null;
  if (isDeletion && valueBytes > 0) return null;
  const write: BatchedWrite = {
    partition,
    key: source.subarray(keyAt, valueAt),
    value: isDeletion ? null : source.subarray(valueAt, end),
    ms: source.readUIntBE(at + 11, 6),
    tie: source.readUIntBE(at + 17, 5),
  };
  if (flags & EXPIRES) write.expiresMs = source.readUIntBE(expiryAt, 6);
  if (flags & ORIGIN) {
    write.origin = { ms: source.readUIntBE(originAt, 6), tie: source.readUIntBE(originAt + 6, 5) };
  }
  if (flags & REPAIR) write.repair = true;
  return { write, end };
}
