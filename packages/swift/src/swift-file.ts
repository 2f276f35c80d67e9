// Reads a file of Swift: a ring or a builder. Pure.
import type { SwiftBuilder } from './swift-builder.ts';
import { decodeSwiftBuilder } from './swift-builder-file.ts';
import { swiftBroken, swiftInvalid } from './swift-file-error.ts';
import { isGzip } from './swift-gzip.ts';
import type { SwiftRing } from './swift-ring.ts';
import { decodeSwiftRing } from './swift-ring-file.ts';

export type SwiftFile =
  | { readonly kind: 'ring'; readonly ring: SwiftRing }
  | { readonly kind: 'builder'; readonly builder: SwiftBuilder };

/** First bytes of a pickle: protocol 2, or in the oldest files a mark, a name or a dictionary. */
const pickleStarts = [0x80, 0x28, 0x63, 0x7d];

/** Throws SWIFT_FILE_INVALID, SWIFT_FORMAT_UNKNOWN, SWIFT_FILE_TOO_LARGE, PICKLE_REFUSED. */
export function readSwiftFile(file: Uint8Array): SwiftFile {
  if (isGzip(file)) return { kind: 'ring', ring: decodeSwiftRing(file) };
  if (pickleStarts.includes(file[0] ?? -1)) {
    return { kind: 'builder', builder: decodeSwiftBuilder(file) };
  }
  if (file.length === 0) throw swiftInvalid('the file', 'empty', 'a gzipped ring or a builder');
  const found = Buffer.from(file.subarray(0, 8)).toString('hex');
  throw swiftBroken('the file', `is neither a gzipped ring nor a builder: it begins with ${found}`);
}
