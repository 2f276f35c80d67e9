// MurmurHash3 x86 32-bit (Austin Appleby, public domain). Frozen, keys depend on it. Pure.

const blockFactor = 0xcc9e2d51;
const laneFactor = 0x1b873593;

/** Returns the hash of `bytes` as a whole number in [0, 2^32). `seed` is in the same range. */
export function murmur3(bytes: Uint8Array, seed: number): number {
  const length = bytes.length;
  const tailAt = length & ~3;
  let hash = seed | 0;
  for (let at = 0; at < tailAt; at += 4) {
    hash ^= scrambled(wordAt(bytes, at));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (tailAt < length) hash ^= scrambled(tailOf(bytes, tailAt));
  return finished(hash ^ length);
}

function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

function tailOf(bytes: Uint8Array, at: number): number {
  let word = 0;
  for (let last = bytes.length - 1; last >= at; last -= 1) word = (word << 8) | (bytes[last] ?? 0);
  return word;
}

function scrambled(word: number): number {
  const lane = Math.imul(word, blockFactor);
  return Math.imul((lane << 15) | (lane >>> 17), laneFactor);
}

function finished(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
