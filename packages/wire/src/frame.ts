// A frame: one binary WebSocket message with a batch of calls and answers, in MessagePack. Pure.
// Without msgpackr's native part, which takes a third longer for short messages, and 8 ms of each
// start.
import { Packr } from 'msgpackr/pack';
import { hasFrameStructure } from './frame-structure.ts';

export type CallEnvelope = readonly [kind: 0, id: number, method: string, body: unknown];
/** [0, call id, method, request] · [1, call id, answer] · [2, call id, error document] */
export type Envelope =
  | CallEnvelope
  | readonly [kind: 1, id: number, body: unknown]
  | readonly [kind: 2, id: number, error: unknown];

/** Undefined is sent as null, which schemas refuse; as an extension type it would be no frame. */
const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true });

const ARRAY_32 = 0xdd;
const BIN_32 = 0xc6;
const HEADER_BYTES = 5;
const BIN_32_HEADER_BYTES = 5;

/** Bytes of at least this length are not copied into an envelope first. */
export const longBytesMin = 16 * 1024;
/** A body may hold long bytes itself, or in an object inside it: a record. */
const LONG_BYTES_DEPTH = 2;
const noBytes = new Uint8Array(0);
/** Their packed form: a type and a length of one byte each. */
const NO_BYTES_PACKED = 2;

/** Packs one envelope by itself, so that its exact length is known before it joins a frame. */
export function packEnvelope(envelope: Envelope): Uint8Array {
  return packr.pack(envelope);
}

/** Joins packed envelopes to a frame: an array with a header of fixed length. */
export function joinFrame(packed: readonly Uint8Array[]): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  writeHeader(header, packed.length);
  return Buffer.concat([header, ...packed]);
}

/**
 * Packs an envelope with long bytes as a frame of its own, copying those once; null for other
 * envelopes. The frame has memory of its own. At the receiver that holds only from 128 KiB on,
 * which a socket cannot read at once.
 */
export function longFrame(
  envelope: Envelope,
): { readonly frame: Uint8Array; readonly long: Uint8Array } | null {
  const found = longLast(envelope.at(-1), LONG_BYTES_DEPTH);
  if (found === null) return null;
  const { body, long } = found;
  const packed: Uint8Array = packr.pack([...envelope.slice(0, -1), body]);
  const head = packed.subarray(0, -NO_BYTES_PACKED);
  const longAt = HEADER_BYTES + head.length + BIN_32_HEADER_BYTES;
  const frame = Buffer.allocUnsafeSlow(longAt + long.length);
  writeHeader(frame, 1);
  frame.set(head, HEADER_BYTES);
  frame.writeUInt8(BIN_32, HEADER_BYTES + head.length);
  frame.writeUInt32BE(long.length, longAt - 4);
  frame.set(long, longAt);
  return { frame, long };
}

interface LongLast {
  /** The long bytes are packed last, so that they can replace the empty bytes there. */
  readonly body: object;
  readonly long: Uint8Array;
}

function longLast(body: unknown, depth: number): LongLast | null {
  if (depth === 0 || !isFields(body)) return null;
  for (const name in body) {
    const field = body[name];
    const found =
      field instanceof Uint8Array ? { body: noBytes, long: field } : longLast(field, depth - 1);
    if (found === null || found.long.length < longBytesMin) continue;
    const { [name]: _, ...others } = body;
    return { body: { ...others, [name]: found.body }, long: found.long };
  }
  return null;
}

function isFields(body: unknown): body is Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null) return false;
  return !Array.isArray(body) && !(body instanceof Uint8Array); // each byte would be a field
}

function writeHeader(frame: Buffer, count: number): void {
  frame.writeUInt8(ARRAY_32);
  frame.writeUInt32BE(count, 1);
}

/**
 * Returns the envelopes of a frame, or null, decoding nothing, when the bytes are no frame. Bodies
 * are not validated yet, but contain only numbers, texts, bytes, booleans, nulls, arrays and small
 * maps.
 */
export function unpackFrame(bytes: Uint8Array): readonly Envelope[] | null {
  if (!hasFrameStructure(bytes)) return null;
  let data: unknown;
  try {
    data = packr.unpack(bytes);
  } catch {
    return null;
  }
  return Array.isArray(data) && data.every(isEnvelope) ? data : null;
}

function isEnvelope(value: unknown): value is Envelope {
  if (!Array.isArray(value) || !Number.isSafeInteger(value[1])) return false;
  if (value[0] === 0) return value.length === 4 && typeof value[2] === 'string';
  return (value[0] === 1 || value[0] === 2) && value.length === 3;
}
