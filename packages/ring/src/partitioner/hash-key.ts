// The part of a key that is hashed: keys that share it are in one partition. Pure.
import { asBuffer } from '@ringwright/base/as-buffer';
import { braceTag } from './partitioner.ts';

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
