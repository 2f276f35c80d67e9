// The payload of a frame: definitions of partitions, each once per segment, writes to them, and
// changes of their marks. Pure.
import type { PartitionRef } from '../file/data-paths.ts';
import {
  encodeMarksChange,
  isMarksChange,
  type MarksChange,
  marksChangeBytes,
} from '../file/marks-change.ts';
import {
  type EncodableRecord,
  encodeRecord,
  isRecord,
  recordLength,
} from '../file/record-bytes.ts';

// define: kind 1 | index 4 | partition 4 | keyspace length 1, bytes | life length 1, bytes
// write:  kind 1 | index 4 | record length 4 | record
// change: kind 1 | index 4 | length 4 | change
const DEFINE = 1;
const WRITE = 2;
const CHANGE = 3;
/** Bytes before the record or change, the same for both kinds. */
const FIXED_BYTES = 9;

/** A partition as the log names it. Writes of an earlier lifetime never reach the present one. */
export interface LogPartition extends PartitionRef {
  readonly life: string;
}

/** Called for each entry of a payload, in order; offsets are relative to the payload. */
interface EntryVisitor {
  define(index: number, partition: LogPartition): void;
  /** An encoded record in [start, end), the range of the row hash, or a change: see isChange. */
  entry(index: number, start: number, end: number): void;
}

/** Keyspace and life are ASCII names of at most 64 characters. */
export function defineLength(partition: LogPartition): number {
  return 11 + partition.keyspace.length + partition.life.length;
}

export function encodeDefine(
  partition: LogPartition,
  index: number,
  destination: { target: Buffer; offset: number },
): number {
  const { target } = destination;
  let offset = target.writeUInt8(DEFINE, destination.offset);
  offset = target.writeUInt32BE(index, offset);
  offset = target.writeUInt32BE(partition.partition, offset);
  for (const text of [partition.keyspace, partition.life]) {
    offset = target.writeUInt8(text.length, offset);
    offset += target.write(text, offset, 'latin1');
  }
  return offset;
}

export function writeLength(record: EncodableRecord): number {
  return FIXED_BYTES + recordLength(record);
}

export const changeLength = FIXED_BYTES + marksChangeBytes;

export function encodeChange(
  change: MarksChange,
  index: number,
  { target, offset }: { target: Buffer; offset: number },
): number {
  target[offset] = CHANGE;
  target.writeUInt32BE(index, offset + 1);
  target.writeUInt32BE(marksChangeBytes, offset + 5);
  return encodeMarksChange(change, target, offset + FIXED_BYTES);
}

/** Whether the entry that starts there is a change, not a record. */
export function isChange(payload: Buffer, start: number): boolean {
  return payload[start - FIXED_BYTES] === CHANGE;
}

/** Returns where the record itself starts and ends. */
export function encodeWrite(
  record: EncodableRecord,
  index: number,
  destination: { target: Buffer; offset: number },
): { start: number; end: number } {
  const { target, offset } = destination;
  target[offset] = WRITE;
  target.writeUInt32BE(index, offset + 1);
  const start = offset + FIXED_BYTES;
  const end = encodeRecord(record, target, start);
  target.writeUInt32BE(end - start, offset + 5);
  return { start, end };
}

/** Visits all entries. Returns the offset of the first bytes that are no whole entry, or null. */
export function visitEntries(payload: Buffer, visitor: EntryVisitor): number | null {
  for (let offset = 0; offset < payload.length; ) {
    const end =
      payload[offset] === DEFINE
        ? visitDefine(payload, offset, visitor)
        : visitEntry(payload, offset, visitor);
    if (end === null) return offset;
    offset = end;
  }
  return null;
}

/** The kind of the entry at `offset` if only a later release can have written it, else null. */
export function laterKind(payload: Buffer, offset: number): number | null {
  const kind = payload[offset] ?? 0;
  return kind > CHANGE ? kind : null;
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

function visitEntry(payload: Buffer, offset: number, visitor: EntryVisitor): number | null {
  const kind = payload[offset];
  if ((kind !== WRITE && kind !== CHANGE) || offset + FIXED_BYTES > payload.length) return null;
  const start = offset + FIXED_BYTES;
  const end = start + payload.readUInt32BE(offset + 5);
  const isWhole = kind === WRITE ? isRecord : isMarksChange;
  if (end > payload.length || !isWhole(payload, start, end)) return null;
  visitor.entry(payload.readUInt32BE(offset + 1), start, end);
  return end;
}
