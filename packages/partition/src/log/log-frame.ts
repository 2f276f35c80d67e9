// The commit log's bytes: a segment header, then frames with length, number and CRC32. Pure.
import { crc32 } from 'node:zlib';
import { logFillBytes } from '@ringwright/base/limits-store';

// Segment header: magic 8 | segment number 8 | salt 8 | CRC32 of the 24 bytes before 4.
const SEGMENT_MAGIC = Buffer.from('RWLOG001', 'latin1');
/**
 * The first half of the salt, where the file is as long as `filledBy` says: earlier programs drew
 * all of it. A seed has 32 bits, so 32 random ones are enough.
 */
const KEEPS_LENGTH = Buffer.from('FULL', 'latin1');
/** Random bytes of the salt. */
export const saltBytes = 4;
const CHECKED_HEADER_BYTES = 24;
export const segmentHeaderBytes = 28;
// Frame header: magic 4 | CRC32 over all that follows 4 | payload length 4 | frame number 4.
const FRAME_MAGIC = Buffer.from('RWF1', 'latin1');
export const frameHeaderBytes = 16;
const CHECKED_FROM = 8;

/**
 * The CRC of a segment's header starts the CRC of each of its frames, so a frame of another
 * segment, or one that somebody wrote into a value, is not taken for one of this segment: the salt
 * is random.
 */
interface SegmentHeader {
  readonly number: number;
  readonly seed: number;
  /** False: an earlier program made the segment. */
  readonly keepsLength: boolean;
}

export function encodeSegmentHeader(number: number, salt: Buffer): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes);
  SEGMENT_MAGIC.copy(header, 0);
  header.writeBigUInt64BE(BigInt(number), 8);
  KEEPS_LENGTH.copy(header, 16);
  salt.copy(header, 20, 0, saltBytes);
  header.writeUInt32BE(crc32(header.subarray(0, CHECKED_HEADER_BYTES)), CHECKED_HEADER_BYTES);
  return header;
}

/** Whether a program wrote it whose segments have another form: the magic ends with a number. */
export function isOtherForm(bytes: Buffer): boolean {
  const magic = bytes.toString('latin1', 0, SEGMENT_MAGIC.length);
  return (
    /^RWLOG\d{3}$/.test(magic) && !bytes.subarray(0, SEGMENT_MAGIC.length).equals(SEGMENT_MAGIC)
  );
}

export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | null {
  if (bytes.length < segmentHeaderBytes || !bytes.subarray(0, 8).equals(SEGMENT_MAGIC)) return null;
  const seed = bytes.readUInt32BE(CHECKED_HEADER_BYTES);
  if (crc32(bytes.subarray(0, CHECKED_HEADER_BYTES)) !== seed) return null;
  const keepsLength = bytes.subarray(16, 20).equals(KEEPS_LENGTH);
  return { number: Number(bytes.readBigUInt64BE(8)), seed, keepsLength };
}

/**
 * How long a segment is with a frame of `bytes` that ends at `end`, when it was `filled` before: a
 * small frame that reaches beyond brings zeros along.
 */
export function filledBy(
  { end, bytes }: { readonly end: number; readonly bytes: number },
  filled: number,
): number {
  const isLong = 4 * bytes > logFillBytes;
  return end <= filled || isLong ? Math.max(filled, end) : end + logFillBytes;
}

/** Fills in the frame header at the start of `frame`; the payload follows it already. */
export function checksumFrame(frame: Buffer, number: number, seed: number): void {
  FRAME_MAGIC.copy(frame, 0);
  frame.writeUInt32BE(frame.length - frameHeaderBytes, 8);
  frame.writeUInt32BE(number, 12);
  frame.writeUInt32BE(crc32(frame.subarray(CHECKED_FROM), seed), 4);
}

/** The payload of the frame at `offset`, or null when no whole frame of this segment is there. */
export function frameAt(
  segment: Buffer,
  offset: number,
  seed: number,
): { number: number; payload: Buffer; end: number } | null {
  if (segment.length < offset + frameHeaderBytes) return null;
  if (FRAME_MAGIC.compare(segment, offset, offset + 4) !== 0) return null;
  const end = offset + frameHeaderBytes + segment.readUInt32BE(offset + 8);
  if (end > segment.length) return null;
  const crc = crc32(segment.subarray(offset + CHECKED_FROM, end), seed);
  if (crc !== segment.readUInt32BE(offset + 4)) return null;
  return {
    number: segment.readUInt32BE(offset + 12),
    payload: segment.subarray(offset + frameHeaderBytes, end),
    end,
  };
}

/**
 * The offset of a whole frame behind `offset`, or -1. Each frame is synced before the next is
 * written, so a frame behind a bad one proves that the bad one had been durable: that is damage,
 * not a torn tail.
 */
export function frameBehind(segment: Buffer, offset: number, seed: number): number {
  let at = segment.indexOf(FRAME_MAGIC, offset + 1);
  while (at !== -1 && frameAt(segment, at, seed) === null)
    at = segment.indexOf(FRAME_MAGIC, at + 1);
  return at;
}
