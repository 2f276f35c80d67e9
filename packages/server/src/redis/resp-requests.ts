// Parses requests of the Redis protocol from a stream of bytes: arrays of bulk strings, or inline
// lines.
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import {
  redisArgumentsMax,
  redisInlineBytesMax,
  redisRequestBytesMax,
} from '@ringwright/base/limits';
import { splitInline } from './resp-inline.ts';

/** The words of a request, the command's name first; never empty. */
export type RespRequest = readonly Uint8Array[];

/** The stream does not follow the protocol. The client gets an error, and the connection ends. */
export class RespProtocolError extends Error {
  override readonly name = 'RespProtocolError';
}

const CR = 0x0d;
const LF = 0x0a;
const ASTERISK = 0x2a;
const DOLLAR = 0x24;
const MINUS = 0x2d;
const ZERO = 0x30;
/** `*` or `$` with a number: a longer line is no header. */
const HEADER_BYTES_MAX = 32;

/** A word at least this long arrives in several pieces. */
const LONG_WORD_BYTES_MIN = 16 * 1024;
/**
 * If the words before a long one have at most this many bytes (a name and a key), they are copied.
 */
const OTHER_WORDS_BYTES_MAX = 2 * 1024;

/** Holds the bytes of the incomplete request; lives as long as its connection. */
export class RespRequests {
  #bytes: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /**
   * There is no line end before this index, so a line that arrives byte by byte is searched once.
   */
  #searched = 0;
  /** Words of the request being read, and how many are missing; 0 between requests. */
  #args: Uint8Array[] = [];
  #missing = 0;
  #requestBytes = 0;
  /** Length of the word being read, or -1 while its header is awaited. */
  #bulkBytes = -1;
  /** Whether a returned request is a view of `#bytes`. */
  #hasViews = false;

  /** Bytes received that no request has used yet. */
  get heldBytes(): number {
    return this.#end - this.#start;
  }

  /** Bytes held for an incomplete request. */
  get begunBytes(): number {
    return this.heldBytes + this.#requestBytes;
  }

  /**
   * Takes the next bytes of the stream, in memory that nobody else uses. Requests read from them
   * are views of `chunk`, or of memory that is written once, so they do not change.
   */
  push(chunk: Buffer): void {
    const held = this.heldBytes;
    if (held === 0) {
      this.#hasViews = false;
      this.#bytes = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#searched = 0;
      return;
    }
    if (this.#bytes.length - this.#end < chunk.length) this.#grow(held + chunk.length);
    chunk.copy(this.#bytes, this.#end);
    this.#end += chunk.length;
  }

  /** Returns the next complete request; null if more bytes are needed. Throws RespProtocolError. */
  next(): RespRequest | null {
    for (;;) {
      if (this.#missing > 0) {
        if (!this.#readArgs()) return null;
        const args = this.#args;
        this.#args = [];
        this.#requestBytes = 0;
        this.#hasViews = true;
        return args;
      }
      if (this.heldBytes === 0) return null;
      const request = this.#bytes[this.#start] === ASTERISK ? this.#readCount() : this.#readLine();
      if (request === 'more') return null;
      if (request.length === 0) continue;
      this.#hasViews = true;
      return request;
    }
  }

  /**
   * Doubles the memory, so bytes that arrive one by one are copied only a few times each. A long
   * word gets its whole length at once, and the memory with its first part is freed, since dead
   * bytes make V8 collect garbage.
   */
  #grow(needed: number): void {
    const isLong = this.#bulkBytes >= LONG_WORD_BYTES_MIN;
    const length = isLong ? Math.max(needed, this.#bulkBytes + 2) : 2 * needed;
    const grown = Buffer.allocUnsafeSlow(length);
    const oldBytes = this.#bytes;
    oldBytes.copy(grown, 0, this.#start, this.#end);
    this.#searched -= this.#start;
    this.#end -= this.#start;
    this.#start = 0;
    this.#bytes = grown;
    const isInUse = this.#hasViews || this.#requestBytes - this.#bulkBytes > OTHER_WORDS_BYTES_MAX;
    this.#hasViews = false;
    if (!isLong || isInUse) return;
    this.#args = this.#args.map((word) => Buffer.from(word));
    freeOwnBytes(oldBytes);
  }

  /** Begins a request. An empty or absent array is skipped, as in Redis. */
  #readCount(): 'more' | readonly [] {
    const count = this.#readNumber('multibulk');
    if (count === null) return 'more';
    if (count > redisArgumentsMax) throw new RespProtocolError('invalid multibulk length');
    this.#missing = Math.max(count, 0);
    return [];
  }

  #readArgs(): boolean {
    while (this.#missing > 0) {
      if (this.#bulkBytes === -1 && !this.#readBulkHeader()) return false;
      const end = this.#start + this.#bulkBytes;
      if (end + 2 > this.#end) return false;
      if (this.#bytes[end] !== CR || this.#bytes[end + 1] !== LF) {
        throw new RespProtocolError('a bulk string does not end where its length says');
      }
      this.#args.push(this.#bytes.subarray(this.#start, end));
      this.#advance(end + 2);
      this.#bulkBytes = -1;
      this.#missing -= 1;
    }
    return true;
  }

  #readBulkHeader(): boolean {
    if (this.heldBytes === 0) return false;
    const first = this.#bytes[this.#start] ?? 0;
    if (first !== DOLLAR) {
      throw new RespProtocolError(`expected '$', got '${printable(first)}'`);
    }
    const bytes = this.#readNumber('bulk');
    if (bytes === null) return false;
    if (bytes < 0) throw new RespProtocolError('invalid bulk length');
    this.#requestBytes += bytes;
    if (this.#requestBytes > redisRequestBytesMax) {
      throw new RespProtocolError(`a request of more than ${redisRequestBytesMax} bytes`);
    }
    this.#bulkBytes = bytes;
    return true;
  }

  /** Returns the number of a header line, or null if the line is incomplete. */
  #readNumber(what: string): number | null {
    const start = this.#start;
    const end = this.#takeLine(HEADER_BYTES_MAX);
    if (end === 'long') throw new RespProtocolError(`invalid ${what} length`);
    if (end === null) return null;
    const value = integerIn(this.#bytes, start + 1, end);
    if (value === null) throw new RespProtocolError(`invalid ${what} length`);
    return value;
  }

  #readLine(): 'more' | RespRequest {
    const start = this.#start;
    const end = this.#takeLine(redisInlineBytesMax);
    if (end === 'long') throw new RespProtocolError('too big inline request');
    if (end === null) return 'more';
    const args = splitInline(this.#bytes.subarray(start, end));
    if (args === null) throw new RespProtocolError('unbalanced quotes in request');
    return args;
  }

  /**
   * Skips the line at the start and returns where it ends; `long` if it has more than `most` bytes.
   */
  #takeLine(most: number): number | 'long' | null {
    let at = Math.max(this.#start, this.#searched);
    while (at < this.#end && this.#bytes[at] !== LF) at += 1;
    if (at === this.#end) {
      this.#searched = this.#end;
      return this.heldBytes > most ? 'long' : null;
    }
    if (at - this.#start > most) return 'long';
    const end = at > this.#start && this.#bytes[at - 1] === CR ? at - 1 : at;
    this.#advance(at + 1);
    return end;
  }

  #advance(to: number): void {
    this.#start = to;
    this.#searched = to;
  }
}

/** Parses a decimal number of up to ten digits, perhaps negative; null if there is none. */
function integerIn(bytes: Buffer, start: number, end: number): number | null {
  const first = bytes[start] === MINUS ? start + 1 : start;
  if (first >= end || end - first > 10) return null;
  let value = 0;
  for (let at = first; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return null;
    value = 10 * value + digit;
  }
  return first === start ? value : -value;
}

function printable(byte: number): string {
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`;
}
