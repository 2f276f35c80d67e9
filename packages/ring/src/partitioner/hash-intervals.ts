// Key to interval of the hash circle: the first end ≥ the hash. Frozen, keys depend on it. Pure.

import { asBuffer } from '@ringwright/base/as-buffer';
import { jenkins } from './jenkins.ts';
import { md5Top } from './md5-top.ts';
import { murmur3 } from './murmur3.ts';
import { braceTag, type HashIntervalsPartitioner, type IntervalHash } from './partitioner.ts';

/** Number of positions on the circle of hashes. */
export const hashPositions = 2 ** 32;

type HashOf = (key: Uint8Array) => number;

const hashes: Readonly<Record<IntervalHash, HashOf>> = {
  md5: md5Top,
  murmur3: (key) => murmur3(key, 0),
  jenkins,
};

/** Returns the partitioner's hash of a key: its hash function, applied to the hashed part. */
export function keyHashOf({
  hash,
  hashKey,
}: Pick<HashIntervalsPartitioner, 'hash' | 'hashKey'>): HashOf {
  const hashOf = hashes[hash];
  if (hashKey === undefined) return hashOf;
  const part = hashedPartOf(hashKey);
  return (key) => hashOf(part(key));
}

/** Returns the partitioner as a function from hash to partition. */
export function intervalOfHash(partitioner: HashIntervalsPartitioner): (hash: number) => number {
  const { partitions, ends, ids } = partitioner;
  const indexOf = ends === undefined ? equalIndex(partitions) : explicitIndex(ends);
  if (ids === undefined) return indexOf;
  const idOf = Uint32Array.from(ids);
  return (hash) => idOf[indexOf(hash)] ?? 0;
}

/** ceil(hash x count / 2^32) modulo count, in two halves as in equalEnd: no table, no search. */
function equalIndex(count: number): (hash: number) => number {
  return (hash) => {
    const low = (hash & 0xffff) * count;
    const middle = (hash >>> 16) * count + Math.floor(low / 65_536);
    const whole = Math.floor(middle / 65_536);
    const isEnd = middle === whole * 65_536 && (low & 0xffff) === 0;
    const index = isEnd ? whole : whole + 1;
    return index === count ? 0 : index;
  };
}

/**
 * Binary search among the ends that share the hash's top bits: two or three steps in 10,000 random
 * ends, and logarithmic in the worst case, when ends are close together.
 */
function explicitIndex(boundaries: readonly number[]): (hash: number) => number {
  const ends = Uint32Array.from(boundaries);
  const bits = Math.min(20, Math.max(1, Math.ceil(Math.log2(ends.length))));
  const shift = 32 - bits;
  const firsts = firstOfTop(ends, bits);
  return (hash) => {
    const top = hash >>> shift;
    let low = firsts[top] ?? 0;
    let high = firsts[top + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 0) < hash) low = middle + 1;
      else high = middle;
    }
    return low === ends.length ? 0 : low;
  };
}

/** By the top bits of a hash: the number of ends with lower top bits. */
function firstOfTop(ends: Uint32Array, bits: number): Uint32Array {
  const firsts = new Uint32Array(2 ** bits + 1);
  let index = 0;
  for (let top = 0; top <= 2 ** bits; top += 1) {
    while (index < ends.length && (ends[index] ?? 0) >>> (32 - bits) < top) index += 1;
    firsts[top] = index;
  }
  return firsts;
}

const [open, close] = [0x7b, 0x7d];

/** Without the delimiter or a pair of braces, or with nothing there, the whole key is hashed. */
export function hashedPartOf(hashKey: string | undefined): (key: Uint8Array) => Uint8Array {
  if (hashKey === undefined) return (key) => key;
  if (hashKey === braceTag) return insideBraces;
  const delimiter = Buffer.from(hashKey, 'utf8');
  return (key) => {
    const at = asBuffer(key).indexOf(delimiter);
    return at > 0 ? key.subarray(0, at) : key;
  };
}

/** Redis Cluster: the bytes between the first `{` and the first `}` after it. */
function insideBraces(key: Uint8Array): Uint8Array {
  const from = key.indexOf(open) + 1;
  if (from === 0) return key;
  const until = key.indexOf(close, from);
  return until > from ? key.subarray(from, until) : key;
}
