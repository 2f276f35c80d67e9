// The bytes of one connection between processes that copy, hidden from the line: AES-128 in counter
// mode. Whether they are the right ones their keyed checksum tells, which does not come this way.
import { createCipheriv } from 'node:crypto';

/** Each key is used for one connection. */
const COUNTER = Buffer.alloc(16);

/** For either end: what is passed through both is as it was. */
export type StreamCipher = (bytes: Buffer) => Buffer;

/** `key`: 32 hex digits; null: the bytes stay as they are. */
export function streamCipher(key: string | null): StreamCipher | null {
  if (key === null) return null;
  const cipher = createCipheriv('aes-128-ctr', Buffer.from(key, 'hex'), COUNTER);
  return (bytes) => cipher.update(bytes);
}
