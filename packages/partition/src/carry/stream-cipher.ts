// Encrypts the bytes of one connection between carriers: AES-128 in counter mode. The keyed
// checksum, which travels over another connection, tells whether the bytes are right.
import { createCipheriv } from 'node:crypto';

/** A constant start is safe here: each key is used for one connection. */
const COUNTER = Buffer.alloc(16);

/** Used at both ends: applying the cipher twice restores the bytes. */
export type StreamCipher = (bytes: Buffer) => Buffer;

/** `key`: 32 hex digits; null: no encryption. */
export function streamCipher(key: string | null): StreamCipher | null {
  if (key === null) return null;
  const cipher = createCipheriv('aes-128-ctr', Buffer.from(key, 'hex'), COUNTER);
  return (bytes) => cipher.update(bytes);
}
