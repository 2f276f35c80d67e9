// First four bytes of the MD5, big-endian. Frozen, keys depend on it. Pure.
import { hash } from 'node:crypto';

/** Returns a whole number in [0, 2^32). A binary string is the fastest form of a digest. */
export function md5Top(bytes: Uint8Array): number {
  const digest = hash('md5', bytes, 'binary');
  const high = (digest.charCodeAt(0) << 24) | (digest.charCodeAt(1) << 16);
  return (high | (digest.charCodeAt(2) << 8) | digest.charCodeAt(3)) >>> 0;
}
