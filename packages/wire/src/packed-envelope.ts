// Packs envelopes for sending: one that fits no frame is refused; a refusal can always be sent.
// Pure.
import { CodedError, type ErrorDocument } from '@ringwright/base/coded-error';
import { socketMessageBytesMax } from '@ringwright/base/limits';
import { shortened } from '@ringwright/base/shortened';
import { type Envelope, joinFrame, longFrame, packEnvelope } from './frame.ts';
import { hasFrameStructure } from './frame-structure.ts';

export interface Packed {
  /** An envelope, or a whole frame if it has long bytes. */
  readonly bytes: Uint8Array;
  readonly long: Uint8Array | null;
}

/** Bytes of a frame besides its envelopes. */
const FRAME_BYTES_RESERVE = 64;
const MESSAGE_BYTES_MAX = socketMessageBytesMax - FRAME_BYTES_RESERVE;

/**
 * Never fails: a refusal that quotes its input may exceed a frame, and its details may contain what
 * no frame can; then the details are dropped.
 */
export function packRefusal(id: number, error: unknown): Uint8Array {
  const document = errorDocument(error);
  const packed = packEnvelope([2, id, document]);
  const isFrame = packed.length <= MESSAGE_BYTES_MAX && hasFrameStructure(joinFrame([packed]));
  return isFrame ? packed : packEnvelope([2, id, { ...document, details: {} }]);
}

/** Packs an envelope. Throws VALUE_OUT_OF_RANGE when no frame could hold it. */
export function packOne(envelope: Envelope): Packed {
  const found = longFrame(envelope);
  if (found !== null && found.frame.length <= MESSAGE_BYTES_MAX) {
    return { bytes: found.frame, long: found.long };
  }
  const bytes = packEnvelope(envelope);
  if (bytes.length <= MESSAGE_BYTES_MAX) return { bytes, long: null };
  const message = `a message of ${bytes.length} bytes; the maximum is ${MESSAGE_BYTES_MAX}`;
  throw new CodedError('VALUE_OUT_OF_RANGE', message);
}

/** Converts an error to its wire form. */
export function errorDocument(error: unknown): ErrorDocument {
  if (!(error instanceof CodedError)) {
    return { code: 'PEER_FAILED', message: shortened(String(error)), hint: '', details: {} };
  }
  const { code, message, hint, details } = error;
  return { code, message: shortened(message), hint: shortened(hint), details };
}
