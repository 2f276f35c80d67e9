// A frame: one binary WebSocket message with a batch of calls and answers, in MessagePack. Pure.
import { Packr } from 'msgpackr';

/** [0, call id, method, request] · [1, call id, answer] · [2, call id, error document] */
export type Envelope =
  | readonly [kind: 0, id: number, method: string, body: unknown]
  | readonly [kind: 1, id: number, body: unknown]
  | readonly [kind: 2, id: number, error: unknown];

const packr = new Packr({ useRecords: false });

const ARRAY_32 = 0xdd;
const HEADER_BYTES = 5;

/** One envelope by itself, so that its exact length is known before it is put into a frame. */
export function packEnvelope(envelope: Envelope): Uint8Array {
  return packr.pack(envelope);
}

/** A frame of packed envelopes: an array with a header of fixed length. */
export function joinFrame(packed: readonly Uint8Array[]): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(ARRAY_32);
  header.writeUInt32BE(packed.length, 1);
  return Buffer.concat([header, ...packed]);
}

/** The envelopes of a frame, or null when the bytes are none. Bodies are not checked yet. */
export function unpackFrame(bytes: Uint8Array): readonly Envelope[] | null {
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
