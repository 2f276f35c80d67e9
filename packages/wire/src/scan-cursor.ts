// Cursors of scans: a place in a keyspace as text, good on every server, after any restart. Pure.
import { crc32 } from 'node:zlib';
import { CodedError } from '@ringwright/base/coded-error';
import { placeBytesMax } from '@ringwright/base/key-bounds';
import type { ScanPlace } from '@ringwright/ring/partitioner/scan-order';

/** What a cursor is good for. */
export interface CursorUse {
  readonly keyspace: string;
  readonly reverse: boolean;
  /** That of the partitioner: see isOrdered. */
  readonly ordered: boolean;
}

// format 1 | flags 1 | partition 4 | place | CRC32 of the keyspace and all before it 4
const FORMAT = 1;
const HEAD_BYTES = 6;
const SUM_BYTES = 4;
const REVERSE = 1;
const ORDERED = 2;

export function writeCursor({ partition, at }: ScanPlace, use: CursorUse): string {
  const bytes = Buffer.alloc(HEAD_BYTES + at.length + SUM_BYTES);
  bytes.writeUInt8(FORMAT, 0);
  bytes.writeUInt8(flagsOf(use), 1);
  // Of ordered keys the place alone says it, also when partitions were split since.
  bytes.writeUInt32BE(use.ordered ? 0 : partition, 2);
  bytes.set(at, HEAD_BYTES);
  bytes.writeUInt32BE(sumOf(bytes, use), bytes.length - SUM_BYTES);
  return bytes.toString('base64url');
}

/** Throws CURSOR_INVALID: for another keyspace or direction, cut, changed, or made up. */
export function readCursor(cursor: string, use: CursorUse): ScanPlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const length = bytes.length - HEAD_BYTES - SUM_BYTES;
  const isWhole =
    bytes.toString('base64url') === cursor &&
    length >= 0 &&
    length <= placeBytesMax &&
    bytes[0] === FORMAT &&
    bytes.readUInt32BE(bytes.length - SUM_BYTES) === sumOf(bytes, use);
  if (!isWhole || bytes[1] !== flagsOf(use)) throw invalid(cursor, use);
  const at = Uint8Array.from(bytes.subarray(HEAD_BYTES, HEAD_BYTES + length));
  return { partition: bytes.readUInt32BE(2), at };
}

function flagsOf({ reverse, ordered }: CursorUse): number {
  return (reverse ? REVERSE : 0) | (ordered ? ORDERED : 0);
}

function sumOf(bytes: Buffer, { keyspace }: CursorUse): number {
  return crc32(bytes.subarray(0, bytes.length - SUM_BYTES), crc32(keyspace));
}

function invalid(cursor: string, { keyspace, reverse }: CursorUse): CodedError {
  const direction = reverse ? 'backward' : 'forward';
  const message = `cursor '${cursor}' is none of a ${direction} scan of keyspace '${keyspace}'`;
  return new CodedError('CURSOR_INVALID', message, {
    hint: 'send the cursor of the last answer as it was, or none to begin anew',
    details: { cursor, keyspace, reverse },
  });
}
