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

// format 1 | flags 1 | partition 4 | cut 4 in format 2 | place | CRC32 of the keyspace and all
// before it 4
const FORMAT = 1;
/** Of hashes in intervals, with the hash behind which the scan began. */
const CUT_FORMAT = 2;
const HEAD_BYTES = 6;
const CUT_BYTES = 4;
const SUM_BYTES = 4;
const REVERSE = 1;
const ORDERED = 2;

export function writeCursor({ partition, at, cut }: ScanPlace, use: CursorUse): string {
  const head = HEAD_BYTES + (cut === undefined ? 0 : CUT_BYTES);
  const bytes = Buffer.alloc(head + at.length + SUM_BYTES);
  bytes.writeUInt8(cut === undefined ? FORMAT : CUT_FORMAT, 0);
  if (cut !== undefined) bytes.writeUInt32BE(cut, HEAD_BYTES);
  bytes.writeUInt8(flagsOf(use), 1);
  // Of ordered keys the place alone says it, also when partitions were split since.
  bytes.writeUInt32BE(use.ordered ? 0 : partition, 2);
  bytes.set(at, head);
  bytes.writeUInt32BE(sumOf(bytes, use), bytes.length - SUM_BYTES);
  return bytes.toString('base64url');
}

/** Throws CURSOR_INVALID: for another keyspace or direction, cut, changed, or made up. */
export function readCursor(cursor: string, use: CursorUse): ScanPlace {
  const bytes = Buffer.from(cursor, 'base64url');
  const hasCut = bytes[0] === CUT_FORMAT;
  const head = HEAD_BYTES + (hasCut ? CUT_BYTES : 0);
  const length = bytes.length - head - SUM_BYTES;
  const isWhole =
    bytes.toString('base64url') === cursor &&
    length >= 0 &&
    length <= placeBytesMax &&
    (hasCut || bytes[0] === FORMAT) &&
    bytes.readUInt32BE(bytes.length - SUM_BYTES) === sumOf(bytes, use);
  if (!isWhole || bytes[1] !== flagsOf(use)) throw invalid(cursor, use);
  const at = Uint8Array.from(bytes.subarray(head, head + length));
  const partition = bytes.readUInt32BE(2);
  return hasCut ? { partition, at, cut: bytes.readUInt32BE(HEAD_BYTES) } : { partition, at };
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
