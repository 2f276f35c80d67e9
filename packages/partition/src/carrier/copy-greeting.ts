// What goes over a connection between two processes that copy: a ticket, a length, and then bytes
// that are hidden from the line. Pure.
import { createCipheriv } from 'node:crypto';

/** Ringwright copy protocol, format 1. */
const MAGIC = Buffer.from('RWc1');
const TICKET_BYTES = 32;
const LENGTH_BYTES = 8;

/** The joiner sends the ticket. */
export const greetingBytes = MAGIC.length + TICKET_BYTES;
/** The source answers with the number of bytes that follow, and then these. */
export const headBytes = MAGIC.length + LENGTH_BYTES;

export function packGreeting(ticket: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(ticket, 'hex')]);
}

export function ticketOf(greeting: Buffer): string | null {
  if (greeting.length !== greetingBytes || !beginsRightly(greeting)) return null;
  return greeting.toString('hex', MAGIC.length);
}

export function packHead(bytes: number): Buffer {
  const head = Buffer.alloc(headBytes);
  MAGIC.copy(head);
  head.writeBigUInt64BE(BigInt(bytes), MAGIC.length);
  return head;
}

export function lengthOf(head: Buffer): number | null {
  if (head.length !== headBytes || !beginsRightly(head)) return null;
  return Number(head.readBigUInt64BE(MAGIC.length));
}

function beginsRightly(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

/** Of AES-128 in counter mode; each key is used for one connection. */
const COUNTER = Buffer.alloc(16);

/** Used at both ends: applying the cipher twice restores the bytes. */
export type StreamCipher = (bytes: Buffer) => Buffer;

/**
 * `key`: 32 hex digits; null: the bytes stay as they are. Whether they are the right ones their
 * keyed checksum tells, which does not come this way.
 */
export function streamCipher(key: string | null): StreamCipher | null {
  if (key === null) return null;
  const cipher = createCipheriv('aes-128-ctr', Buffer.from(key, 'hex'), COUNTER);
  return (bytes) => cipher.update(bytes);
}
