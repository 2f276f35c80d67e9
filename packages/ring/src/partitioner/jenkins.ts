// Bob Jenkins' one-at-a-time hash, 32 bits. Frozen, keys depend on it. Pure.

/** Returns the hash of `bytes` as a whole number in [0, 2^32). */
export function jenkins(bytes: Uint8Array): number {
  let hash = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    hash = (hash + (bytes[at] ?? 0)) | 0;
    hash = (hash + (hash << 10)) | 0;
    hash ^= hash >>> 6;
  }
  hash = (hash + (hash << 3)) | 0;
  hash ^= hash >>> 11;
  return (hash + (hash << 15)) >>> 0;
}
