// Cursors of scans: a position in a keyspace as text, valid on every server, after any restart.
// Pure.
import { crc32 } from 'node:zlib';
import { CodedError } from '@ringwright/base/coded-error';
import { positionBytesMax } from '@ringwright/base/key-bounds';
import type { ScanPosition } from '@ringwright/ring/partitioner/scan-order';

/** The scan that a cursor belongs to. */
export interface CursorUse {
  readonly keyspace: string;
  readonly reverse: boolean;
  /** Whether the partitioner orders keys: see isOrdered. */
  readonly ordered: boolean;
}

// format 1 | flags 1 | fields of 4 bytes each, depending on the format | position | CRC32 of the
// keyspace and everything before it 4
const SUM_BYTES = 4;
const FIELDS_AT = 2;
const FIELD_BYTES = 4;
const REVERSE = 1;
const ORDERED = 2;

type Field = 'partition' | 'cut' | 'start' | 'end';
/** By format. Format 2 comes from older releases, for hashes in intervals. */
const fieldsOf: Readonly<Record<number, readonly Field[]>> = {
  1: ['partition'],
  2: ['partition', 'cut'],
  3: ['cut', 'start', 'end'],
};

export function writeCursor({ partition, at, arc, cut }: ScanPosition, use: CursorUse): string {
  const format = arc === undefined || cut === undefined ? 1 : 3;
  // With ordered keys the position alone suffices, even after partitions were split.
  const values = {
    partition: use.ordered ? 0 : partition,
    cut: cut ?? 0,
    start: 0,
    end: 0,
    ...arc,
  };
  const fields = fieldsOf[format] ?? [];
  const headBytes = FIELDS_AT + FIELD_BYTES * fields.length;
  const bytes = Buffer.alloc(headBytes + at.length + SUM_BYTES);
  bytes.writeUInt8(format, 0);
  bytes.writeUInt8(flagsOf(use), 1);
  for (const [index, field] of fields.entries()) {
    bytes.writeUInt32BE(values[field], FIELDS_AT + FIELD_BYTES * index);
  }
  bytes.set(at, headBytes);
  bytes.writeUInt32BE(sumOf(bytes, use), bytes.length - SUM_BYTES);
  return bytes.toString('base64url');
}

/**
 * Throws CURSOR_INVALID for another keyspace or direction, and for a cut, changed or invented
 * cursor.
 */
export function readCursor(cursor: string, use: CursorUse): ScanPosition {
  const bytes = Buffer.from(cursor, 'base64url');
  const fields = fieldsOf[bytes[0] ?? 0];
  const headBytes = FIELDS_AT + FIELD_BYTES * (fields?.length ?? 0);
  const length = bytes.length - headBytes - SUM_BYTES;
  const isWhole =
    bytes.toString('base64url') === cursor &&
    length >= 0 &&
    length <= positionBytesMax &&
    bytes.readUInt32BE(bytes.length - SUM_BYTES) === sumOf(bytes, use);
  if (fields === undefined || !isWhole || bytes[1] !== flagsOf(use)) throw invalid(cursor, use);
  const at = Uint8Array.from(bytes.subarray(headBytes, headBytes + length));
  const valueOf = (field: Field): number =>
    bytes.readUInt32BE(FIELDS_AT + FIELD_BYTES * fields.indexOf(field));
  const cut = fields.includes('cut') ? { cut: valueOf('cut') } : {};
  if (fields.includes('partition')) return { partition: valueOf('partition'), at, ...cut };
  return { partition: 0, at, ...cut, arc: { start: valueOf('start'), end: valueOf('end') } };
}

function flagsOf({ reverse, ordered }: CursorUse): number {
  return (reverse ? REVERSE : 0) | (ordered ? ORDERED : 0);
}

function sumOf(bytes: Buffer, { keyspace }: CursorUse): number {
  return crc32(bytes.subarray(0, bytes.length - SUM_BYTES), crc32(keyspace));
}

function invalid(cursor: string, { keyspace, reverse }: CursorUse): CodedError {
  const direction = reverse ? 'backward' : 'forward';
  const message = `cursor '${cursor}' is not from a ${direction} scan of keyspace '${keyspace}'`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'send the cursor of the last answer unchanged, or none to start over',
    details: { cursor, keyspace, reverse },
  });
}
