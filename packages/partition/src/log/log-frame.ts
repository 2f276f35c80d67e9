// The commit log's bytes: a segment header, then frames with length, number and CRC32. Pure.
import { crc32 } from 'node:zlib';
import { logFillBytes } from '@ringwright/base/limits-store';

// Segment header: magic 8 | segment number 8 | salt 8 | CRC32 of the 24 bytes before 4.
const SEGMENT_MAGIC = Buffer.from('RWLOG001', 'latin1');
/**
 * The first half of the salt in segments whose file length follows `filledBy`. Earlier releases
 * drew the whole salt at random. A seed has 32 bits, so 32 random bits are enough.
 */
const KEEPS_LENGTH = Buffer.from('FULL', 'latin1');
/** Number of random bytes in the salt. */
export const saltBytes = 4;
const CHECKED_HEADER_BYTES = 24;
export const segmentHeaderBytes = 28;
// Frame header: magic 4 | CRC32 over all that follows 4 | payload length 4 | frame number 4.
const FRAME_MAGIC = Buffer.from('RWF1', 'latin1');
export const frameHeaderBytes = 16;
const CHECKED_FROM = 8;

/**
 * The CRC of the segment header is the seed of each frame's CRC. The salt is random, so neither a
 * frame of another segment nor a frame that somebody wrote into a value is taken for a frame of
 * this segment.
 */
interface SegmentHeader {
  readonly number: number;
  readonly seed: number;
  /** False: an earlier release made the segment. */
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

/** Whether another format version of the log wrote this segment: the magic ends with a number. */
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
 * Returns the file length of a segment after a frame of `bytes` that ends at `end`, where the file
 * had the length `filled` before. A small frame that goes beyond the end brings zeros along.
 */
export function filledBy(
  { end, bytes }: { readonly end: number; readonly bytes: number },
  filled: number,
): number {
  const isLong = 4 * bytes > logFillBytes;
  return end <= filled || isLong ? Math.max(filled, end) : end + logFillBytes;
}

/** Fills in the frame header at the start of `frame`, whose payload is already in place. */
export function checksumFrame(frame: Buffer, number: number, seed: number): void {
  FRAME_MAGIC.copy(frame, 0);
  frame.writeUInt32BE(frame.length - frameHeaderBytes, 8);
  frame.writeUInt32BE(number, 12);
  frame.writeUInt32BE(crc32(frame.subarray(CHECKED_FROM), seed), 4);
}

/** Returns the frame at `offset`, or null when no whole frame of this segment is there. */
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
 * Returns the offset of a whole frame behind `offset`, or -1. Each frame is synced before the next
 * is written. So a frame behind a bad one proves that the bad one was durable: that is damage, not
 * a torn tail.
 */
export function frameBehind(segment: Buffer, offset: number, seed: number): number {
  let at = segment.indexOf(FRAME_MAGIC, offset + 1);
  while (at !== -1 && frameAt(segment, at, seed) === null)
    at = segment.indexOf(FRAME_MAGIC, at + 1);
  return at;
}
