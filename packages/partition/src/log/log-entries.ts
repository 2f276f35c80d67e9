// What a frame's payload holds: names of partitions, each once in a segment, and writes. Pure.
import {
  type EncodableRecord,
  encodeRecord,
  isRecord,
  recordLength,
} from '../file/record-bytes.ts';

// define: kind 1 | index 4 | partition 4 | keyspace length 1, bytes | life length 1, bytes
// write:  kind 1 | index 4 | record length 4 | record
const DEFINE = 1;
const WRITE = 2;
const WRITE_FIXED_BYTES = 9;

/** A partition as the log names it; writes of an earlier life are not for the present one. */
export interface LogPartition {
  readonly keyspace: string;
  readonly partition: number;
  readonly life: string;
}

/** What a payload holds, in its order; offsets are in the payload. */
export interface EntryVisitor {
  define(index: number, partition: LogPartition): void;
  /** An encoded record in [start, end), over which the row hash is taken. */
  write(index: number, start: number, end: number): void;
}

/** Both texts are ASCII names of at most 64 characters. */
export function defineLength(partition: LogPartition): number {
  return 11 + partition.keyspace.length + partition.life.length;
}

export function encodeDefine(
  partition: LogPartition,
  index: number,
  at: { target: Buffer; offset: number },
): number {
  const { target } = at;
  let offset = target.writeUInt8(DEFINE, at.offset);
  offset = target.writeUInt32BE(index, offset);
  offset = target.writeUInt32BE(partition.partition, offset);
  for (const text of [partition.keyspace, partition.life]) {
    offset = target.writeUInt8(text.length, offset);
    offset += target.write(text, offset, 'latin1');
  }
  return offset;
}

export function writeLength(record: EncodableRecord): number {
  return WRITE_FIXED_BYTES + recordLength(record);
}

/** The record itself starts WRITE_FIXED_BYTES later and ends at the returned offset. */
export function encodeWrite(
  record: EncodableRecord,
  index: number,
  at: { target: Buffer; offset: number },
): { start: number; end: number } {
  const { target, offset } = at;
  target[offset] = WRITE;
  target.writeUInt32BE(index, offset + 1);
  const start = offset + WRITE_FIXED_BYTES;
  const end = encodeRecord(record, target, start);
  target.writeUInt32BE(end - start, offset + 5);
  return { start, end };
}

/** Visits all entries; false as soon as the payload is not made of whole entries. */
export function visitEntries(payload: Buffer, visitor: EntryVisitor): boolean {
  for (let offset = 0; offset < payload.length; ) {
    const end =
      payload[offset] === DEFINE
        ? visitDefine(payload, offset, visitor)
        : visitWrite(payload, offset, visitor);
    if (end === null) return false;
    offset = end;
  }
  return true;
}

function visitDefine(payload: Buffer, offset: number, visitor: EntryVisitor): number | null {
  if (offset + 11 > payload.length) return null;
  const texts: string[] = [];
  let end = offset + 9;
  for (let i = 0; i < 2; i += 1) {
    const length = payload[end];
    if (length === undefined || end + 1 + length > payload.length) return null;
    texts.push(payload.toString('latin1', end + 1, end + 1 + length));
    end += 1 + length;
  }
  const [keyspace = '', life = ''] = texts;
  const partition = payload.readUInt32BE(offset + 5);
  visitor.define(payload.readUInt32BE(offset + 1), { keyspace, partition, life });
  return end;
}

function visitWrite(payload: Buffer, offset: number, visitor: EntryVisitor): number | null {
  if (payload[offset] !== WRITE || offset + WRITE_FIXED_BYTES > payload.length) return null;
  const start = offset + WRITE_FIXED_BYTES;
  const end = start + payload.readUInt32BE(offset + 5);
  if (end > payload.length || !isRecord(payload, start, end)) return null;
  visitor.write(payload.readUInt32BE(offset + 1), start, end);
  return end;
}
