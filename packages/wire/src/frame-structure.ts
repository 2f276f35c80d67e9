// Checks whether received bytes have the structure of a frame before anything is decoded, so that
// the decoder never meets what no program of ours sends. Pure.
// Format: https://github.com/msgpack/msgpack/blob/master/spec.md
import {
  frameCallsMax,
  frameDepthMax,
  frameMapFieldsMax,
  frameNameBytesMax,
  frameValuesMax,
} from '@ringwright/base/limits-wire';

/** What a first byte begins. */
const kind = { refused: 0, scalar: 1, text: 2, bytes: 3, array: 4, map: 5 } as const;

/**
 * Ranges of first bytes, ends included: the kind, and how many bytes of the scalar or length
 * follow. All others are refused: extension types, which encode errors, dates, numbers of a million
 * digits, shared references and records; integers of 64 bits, which would be decoded as bigints
 * (ours are doubles); and maps with more fields than 16 bits can count.
 */
const ranges: readonly (readonly [from: number, to: number, is: number, width: number])[] = [
  [0x00, 0x7f, kind.scalar, 0], // small integers
  [0x80, 0x8f, kind.map, 0],
  [0x90, 0x9f, kind.array, 0],
  [0xa0, 0xbf, kind.text, 0],
  [0xc0, 0xc0, kind.scalar, 0], // null
  [0xc2, 0xc3, kind.scalar, 0], // false, true
  [0xc4, 0xc4, kind.bytes, 1],
  [0xc5, 0xc5, kind.bytes, 2],
  [0xc6, 0xc6, kind.bytes, 4],
  [0xca, 0xca, kind.scalar, 4], // floats
  [0xcb, 0xcb, kind.scalar, 8],
  [0xcc, 0xcc, kind.scalar, 1], // unsigned integers
  [0xcd, 0xcd, kind.scalar, 2],
  [0xce, 0xce, kind.scalar, 4],
  [0xd0, 0xd0, kind.scalar, 1], // signed integers
  [0xd1, 0xd1, kind.scalar, 2],
  [0xd2, 0xd2, kind.scalar, 4],
  [0xd9, 0xd9, kind.text, 1],
  [0xda, 0xda, kind.text, 2],
  [0xdb, 0xdb, kind.text, 4],
  [0xdc, 0xdc, kind.array, 2],
  [0xdd, 0xdd, kind.array, 4],
  [0xde, 0xde, kind.map, 2],
  [0xe0, 0xff, kind.scalar, 0], // small negative integers
];

/** By first byte, from the ranges. */
const kinds = new Uint8Array(256);
const widths = new Uint8Array(256);
for (const [from, to, tag, width] of ranges) {
  kinds.fill(tag, from, to + 1);
  widths.fill(width, from, to + 1);
}

/**
 * True for one MessagePack array of at most frameCallsMax values, within the limits of a frame,
 * without refused kinds, with short texts as field names. One pass without recursion; a stated
 * length is trusted only once its bytes are there.
 */
export function hasFrameStructure(bytes: Uint8Array): boolean {
  const first = bytes[0] ?? 0;
  return kinds[first] === kind.array && sizeAt(bytes, 0) <= frameCallsMax && isOneValue(bytes);
}

function isOneValue(bytes: Uint8Array): boolean {
  /** Per open array or map: values still to come, field names included. */
  const left = [1];
  const isMap = [false];
  let at = 0;
  let values = 0;
  while (left.length > 0) {
    const top = left.length - 1;
    const remaining = left[top] ?? 0;
    if (remaining === 0) {
      left.pop();
      isMap.pop();
      continue;
    }
    left[top] = remaining - 1;
    const tag = kinds[bytes[at] ?? NO_BYTE] ?? kind.refused;
    const isName = isMap[top] === true && remaining % 2 === 0;
    if (tag === kind.refused || (isName && tag !== kind.text)) return false;
    const size = tag === kind.scalar ? 0 : sizeAt(bytes, at);
    at += 1 + (widths[bytes[at] ?? NO_BYTE] ?? 0);
    if (tag <= kind.bytes) {
      if (isName && size > frameNameBytesMax) return false;
      at += size;
      continue;
    }
    values += size;
    const fits = values <= frameValuesMax && (tag === kind.array || size <= frameMapFieldsMax);
    if (!fits || left.length > frameDepthMax) return false;
    left.push(tag === kind.map ? 2 * size : size);
    isMap.push(tag === kind.map);
  }
  return at === bytes.length;
}

/** A byte that begins no value. */
const NO_BYTE = 0xc1;
/** Masks for a first byte that contains the size itself. */
const TEXT_SIZE_BITS = 0x1f;
const COUNT_BITS = 0x0f;

/** The length or count of the value at `at`; NaN, which fails every limit, if bytes are missing. */
function sizeAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? NO_BYTE;
  const width = widths[first] ?? 0;
  if (width === 0) return first & (kinds[first] === kind.text ? TEXT_SIZE_BITS : COUNT_BITS);
  let size = 0;
  for (let next = at + 1; next <= at + width; next += 1) size = size * 256 + (bytes[next] ?? NaN);
  return size;
}
