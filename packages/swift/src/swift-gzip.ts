// gzip in Swift's ring files: inflated whole, checked and capped; written in the same form. Pure.
import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import { swiftPayloadBytesMax } from '@ringwright/base/limits';
import { codeOf, messageOf } from '@ringwright/base/thrown';
import { swiftBroken, swiftTooLarge } from './swift-file-error.ts';

/** Chunks of 64 KiB: a large ring would take thousands of chunks of the default size. */
const CHUNK_BYTES = 2 ** 16;
/** Has no file name and no time, so that equal content gives equal bytes. */
export const gzipHead = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff);

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Returns the content of all members, each with its CRC and length. Throws SWIFT_FILE_INVALID for a
 * damaged or incomplete stream, and SWIFT_FILE_TOO_LARGE once it inflates beyond the cap.
 */
export function inflateRing(bytes: Uint8Array): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: swiftPayloadBytesMax, chunkSize: CHUNK_BYTES });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      throw swiftTooLarge('bytes inflated', swiftPayloadBytesMax + 1, swiftPayloadBytesMax);
    }
    throw swiftBroken('the gzip stream', `is damaged: ${messageOf(error)}`);
  }
}

/** Returns a piece of a deflate stream that ends at a byte; another piece may follow it. */
export function deflatePiece(content: Uint8Array, last: 'last' | 'more follow'): Buffer {
  const finishFlush = last === 'last' ? constants.Z_FINISH : constants.Z_FULL_FLUSH;
  return deflateRawSync(content, { level: 9, finishFlush });
}

/** Returns CRC and length of the whole content, little-endian. */
export function gzipTail(content: readonly Uint8Array[]): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(content.reduce((sum, one) => crc32(one, sum), 0) >>> 0);
  tail.writeUInt32LE(content.reduce((sum, one) => sum + one.length, 0) % 2 ** 32, 4);
  return tail;
}
