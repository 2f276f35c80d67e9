// A fault in the bytes of a partition file in transit: cut off, flipped or stalled. Pure.
import type { Random } from '@ringwright/base/random';

/** The place in the message with the first bytes of a file. */
export const copyFaultPlaces = ['head', 'pages', 'values', 'trailer'] as const;

export interface CopyFaultShape {
  /** stall: the copy waits until the fault is removed. */
  readonly how: 'cut' | 'flip' | 'stall';
  readonly place: (typeof copyFaultPlaces)[number];
}

/** The bytes to pass on, and whether the connection breaks after them, or stalls before them. */
interface Passed {
  readonly bytes: Buffer;
  readonly isCut: boolean;
  readonly isStalled?: boolean;
}

/** Every SQLite file begins with it. It distinguishes a chunk of a copy from other messages. */
const MAGIC = Buffer.from('SQLite format 3\0');
/** MessagePack: bytes follow, with a length of 16 or 32 bits. */
const BIN_16 = 0xc5;
const BIN_32 = 0xc6;
/** Maximum size of a server's WebSocket frame header and the envelope around the bytes. */
const HEAD_BYTES_MAX = 80;
/** A frame with one envelope: the fault must hit only the copy. */
const ONE_ENVELOPE = Buffer.from([0xdd, 0, 0, 0, 1]);
const FRAME_LENGTH_BYTES = 8;
const TRAILER_BYTES = 16;
/** Start of a copy from a helper process; its length follows. */
const STREAM_MAGIC = Buffer.from('RWc1');
const STREAM_HEAD_BYTES = 12;
/** Values of the workload and of scenarios end with it. */
const FILLER = Buffer.from('........');

/** Offsets from the start of the connection's next chunk; a negative one has already passed. */
interface Aim {
  readonly target: number;
  /** Range of the file's bytes. */
  readonly start: number;
  readonly end: number;
}

/** Watches one direction of connections until a copy comes, and damages it once. */
export class CopyFault {
  readonly #shape: CopyFaultShape;
  readonly #random: Random;
  #connection: object | null = null;
  #aim: Aim | null = null;
  #isFired = false;

  constructor(shape: CopyFaultShape, random: Random) {
    this.#shape = shape;
    this.#random = random;
  }

  get isFired(): boolean {
    return this.#isFired;
  }

  pass(connection: object, bytes: Buffer): Passed {
    if (this.#isFired) return { bytes, isCut: false };
    const found = this.#aimAt(bytes);
    if (found !== null) [this.#connection, this.#aim] = [connection, found];
    if (this.#aim === null || this.#connection !== connection) return { bytes, isCut: false };
    const { target, start, end } = this.#aim;
    if (target >= bytes.length) {
      const { length } = bytes;
      this.#aim = { target: target - length, start: start - length, end: end - length };
      return { bytes, isCut: false };
    }
    this.#isFired = true;
    if (this.#shape.how === 'stall') return { bytes, isCut: false, isStalled: true };
    if (this.#shape.how === 'cut') return { bytes: bytes.subarray(0, target), isCut: true };
    return { bytes: this.#flipped(bytes, this.#aim), isCut: false };
  }

  #flipped(bytes: Buffer, { target, start, end }: Aim): Buffer {
    const damaged = Buffer.from(bytes);
    const first = Math.max(0, start);
    const found = bytes.subarray(first, Math.max(first, end)).indexOf(FILLER);
    const isValue = this.#shape.place === 'values' && found !== -1;
    const offset = isValue ? first + found + this.#random.below(FILLER.length) : target;
    damaged[offset] = (damaged[offset] ?? 0) ^ (1 << this.#random.below(8));
    return damaged;
  }

  /** Returns where to hit the copy that begins in these bytes; null when none does. */
  #aimAt(bytes: Buffer): Aim | null {
    const found = findCopy(bytes);
    if (found === null || found.end - found.start <= TRAILER_BYTES + MAGIC.length) return null;
    const { head, start, end } = found;
    const below = (count: number): number => this.#random.below(count);
    switch (this.#shape.place) {
      case 'head':
        return head === null ? null : { target: head + below(start - head), start, end };
      case 'trailer':
        return { target: end - TRAILER_BYTES + below(TRAILER_BYTES), start, end };
      default: {
        const pages = end - start - MAGIC.length - TRAILER_BYTES;
        return { target: start + MAGIC.length + below(pages), start, end };
      }
    }
  }
}

interface FoundCopy {
  /** Offset of the message's head; null when the bytes around the copy are not recognized. */
  readonly head: number | null;
  readonly start: number;
  readonly end: number;
}

/** Finds the bytes of a file, from a helper process or in a message. */
function findCopy(bytes: Buffer): FoundCopy | null {
  if (bytes.subarray(0, STREAM_MAGIC.length).equals(STREAM_MAGIC)) {
    if (bytes.length < STREAM_HEAD_BYTES) return null;
    const length = Number(bytes.readBigUInt64BE(STREAM_MAGIC.length));
    return { head: 0, start: STREAM_HEAD_BYTES, end: STREAM_HEAD_BYTES + length };
  }
  const start = bytes.indexOf(MAGIC);
  if (start === -1) return null;
  const envelope = bytes.lastIndexOf(ONE_ENVELOPE, start);
  const isKnown = envelope !== -1 && start - envelope <= HEAD_BYTES_MAX;
  const head = isKnown ? Math.max(0, envelope - FRAME_LENGTH_BYTES) : null;
  return { head, start, end: start + lengthBefore(bytes, start) };
}

/** Returns the length of the bytes that begin at `start`; 0 when it is not in front of them. */
function lengthBefore(bytes: Buffer, start: number): number {
  if (start >= 5 && bytes[start - 5] === BIN_32) return bytes.readUInt32BE(start - 4);
  return start >= 3 && bytes[start - 3] === BIN_16 ? bytes.readUInt16BE(start - 2) : 0;
}
