// The part of a key that is hashed, so that keys that share it lie in one partition. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { braceTag } from './partitioner.ts';

const [open, close] = [0x7b, 0x7d];

/** A key without the delimiter or a full pair of braces, or with nothing there, is hashed whole. */
export function hashedPartOf(hashKey: string | undefined): (key: Uint8Array) => Uint8Array {
  if (hashKey === undefined) return (key) => key;
  if (hashKey === braceTag) return insideBraces;
  const delimiter = Buffer.from(hashKey, 'utf8');
  return (key) => {
    const at = asBuffer(key).indexOf(delimiter);
    return at > 0 ? key.subarray(0, at) : key;
  };
}

/** Redis Cluster: what stands between the first `{` and the first `}` after it. */
function insideBraces(key: Uint8Array): Uint8Array {
  const from = key.indexOf(open) + 1;
  if (from === 0) return key;
  const until = key.indexOf(close, from);
  return until > from ? key.subarray(from, until) : key;
}
