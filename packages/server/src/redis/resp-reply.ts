// Replies of the Redis protocol as data, and encoded for its versions 2 and 3. Pure.

export type RespReply =
  | { readonly kind: 'simple'; readonly text: string }
  /** `text` begins with the error's word, such as ERR. */
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'integer'; readonly value: number | bigint }
  | { readonly kind: 'bulk'; readonly bytes: Uint8Array }
  | { readonly kind: 'null' }
  | { readonly kind: 'array'; readonly items: readonly RespReply[] }
  | { readonly kind: 'map'; readonly pairs: readonly (readonly [string, RespReply])[] };

export type RespVersion = 2 | 3;

export const okReply: RespReply = { kind: 'simple', text: 'OK' };
const okBytes = Buffer.from('+OK\r\n');
const lineEnd = Buffer.from('\r\n');
export const nullReply: RespReply = { kind: 'null' };

export function errorReply(text: string): RespReply {
  return { kind: 'error', text };
}

export function integerReply(value: number | bigint): RespReply {
  return { kind: 'integer', value };
}

export function bulkReply(bytes: Uint8Array): RespReply {
  return { kind: 'bulk', bytes };
}

/** Returns the reply for the value of a key. */
export function valueReply(value: Uint8Array | null): RespReply {
  return value === null ? nullReply : bulkReply(value);
}

export function textReply(text: string): RespReply {
  return { kind: 'bulk', bytes: Buffer.from(text) };
}

export function arrayReply(items: readonly RespReply[]): RespReply {
  return { kind: 'array', items };
}

/** A piece of a reply: text with one byte per character, or raw bytes. */
type Piece = string | Uint8Array;

/** A value at least this long is sent as it is, and not copied behind its length. */
const LONG_VALUE_BYTES_MIN = 16 * 1024;

/** Returns the pieces of a reply that is one long value; null for any other reply. */
export function longBulk(
  reply: RespReply,
): { readonly head: Buffer; readonly rest: readonly Uint8Array[] } | null {
  if (reply.kind !== 'bulk' || reply.bytes.length < LONG_VALUE_BYTES_MIN) return null;
  return { head: Buffer.from(`$${reply.bytes.length}\r\n`), rest: [reply.bytes, lineEnd] };
}

/** Encodes a reply. */
export function encodeReply(reply: RespReply, version: RespVersion): Buffer {
  // The most frequent replies of a busy server need no list of pieces.
  if (reply === okReply) return okBytes;
  if (reply.kind === 'simple') return Buffer.from(`+${reply.text}\r\n`, 'latin1');
  if (reply.kind === 'bulk') return encodeBulk(reply.bytes);
  const pieces: Piece[] = [];
  collect(reply, version, pieces);
  return Buffer.concat(
    pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
  );
}

function encodeBulk(bytes: Uint8Array): Buffer {
  const header = `$${bytes.length}\r\n`;
  const encoded = Buffer.allocUnsafe(header.length + bytes.length + 2);
  encoded.write(header, 0, 'latin1');
  encoded.set(bytes, header.length);
  encoded.write('\r\n', header.length + bytes.length, 'latin1');
  return encoded;
}

function collect(reply: RespReply, version: RespVersion, pieces: Piece[]): void {
  switch (reply.kind) {
    case 'simple':
      pieces.push(`+${oneLine(reply.text)}\r\n`);
      return;
    case 'error':
      pieces.push(`-${oneLine(reply.text)}\r\n`);
      return;
    case 'integer':
      pieces.push(`:${reply.value}\r\n`);
      return;
    case 'bulk':
      pieces.push(`$${reply.bytes.length}\r\n`, reply.bytes, '\r\n');
      return;
    case 'null':
      pieces.push(version === 3 ? '_\r\n' : '$-1\r\n');
      return;
    case 'array':
      pieces.push(`*${reply.items.length}\r\n`);
      for (const item of reply.items) collect(item, version, pieces);
      return;
    case 'map':
      pieces.push(version === 3 ? `%${reply.pairs.length}\r\n` : `*${2 * reply.pairs.length}\r\n`);
      for (const [name, value] of reply.pairs) {
        collect(textReply(name), version, pieces);
        collect(value, version, pieces);
      }
  }
}

/** Makes a text one line, so that nothing from outside can begin another reply. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\t]/g, ' ').replace(/[^ -~]/g, '?');
}
