// A fault in the bytes of a copied partition file on its way: cut off, or a bit flipped. Pure.
import type { Random } from '@ringwright/base/random';

/** Where in the message that brings the first bytes of a file. */
export const copyFaultPlaces = ['head', 'pages', 'values', 'trailer'] as const;

export interface CopyFaultShape {
  /** stall: it waits until the fault is taken away. */
  readonly how: 'cut' | 'flip' | 'stall';
  readonly place: (typeof copyFaultPlaces)[number];
}

/** What goes on, and whether the connection breaks behind it, or waits before it. */
interface Passed {
  readonly bytes: Buffer;
  readonly isCut: boolean;
  readonly isStalled?: boolean;
}

/** Every SQLite file begins so: that is how a chunk of a copy is known among other messages. */
const MAGIC = Buffer.from('SQLite format 3\0');
/** MessagePack: bytes follow, with a length of so many bytes. */
const BIN_16 = 0xc5;
const BIN_32 = 0xc6;
/** Header of a WebSocket frame from a server and of what is around the bytes. */
const HEAD_BYTES_MAX = 80;
/** A frame of one envelope: nothing but the copy may be hit. */
const ONE_ENVELOPE = Buffer.from([0xdd, 0, 0, 0, 1]);
const FRAME_LENGTH_BYTES = 8;
const TRAILER_BYTES = 16;
/** So begins what a process gives, and then comes the length of it. */
const STREAM_MAGIC = Buffer.from('RWc1');
const STREAM_HEAD_BYTES = 12;
/** Values of the workload and of scenarios end with it. */
const FILLER = Buffer.from('........');

/** Counted from the beginning of the next piece of a connection; what is below 0 has passed. */
interface Aim {
  readonly target: number;
  /** Of the bytes of the file. */
  readonly start: number;
  readonly end: number;
}

/** Follows one direction of connections until a copy comes, and harms it once. */
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
    const harmed = Buffer.from(bytes);
    const first = Math.max(0, start);
    const found = bytes.subarray(first, Math.max(first, end)).indexOf(FILLER);
    const isValue = this.#shape.place === 'values' && found !== -1;
    const at = isValue ? first + found + this.#random.below(FILLER.length) : target;
    harmed[at] = (harmed[at] ?? 0) ^ (1 << this.#random.below(8));
    return harmed;
  }

  /** Where to hit the copy that begins in these bytes; null when none does. */
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
  /** Where the head of the message begins; null when what is around the bytes is not known. */
  readonly head: number | null;
  readonly start: number;
  readonly end: number;
}

/** The bytes of a file, from a process or in a message. */
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

/** Of the bytes that begin at `start`; 0 when their length is not before them. */
function lengthBefore(bytes: Buffer, start: number): number {
  if (start >= 5 && bytes[start - 5] === BIN_32) return bytes.readUInt32BE(start - 4);
  return start >= 3 && bytes[start - 3] === BIN_16 ? bytes.readUInt16BE(start - 2) : 0;
}
