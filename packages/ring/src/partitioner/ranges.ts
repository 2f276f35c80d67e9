// Key to range: the last range whose first key is not after it. Keys in the order of bytes. Pure.
import { keyOfText } from './key-text.ts';
import type { RangesPartitioner } from './partitioner.ts';

/** First bytes of keys, compared as one number before all bytes are compared. */
const headBytes = 6;

export function rangeOfKey({ starts, ids }: RangesPartitioner): (key: Uint8Array) => number {
  const keys = starts.map(keyOfText);
  const heads = Float64Array.from(keys, headOf);
  const idOf = ids === undefined ? null : Uint32Array.from(ids);
  return (key) => {
    const head = headOf(key);
    let [low, high] = [0, keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = heads[middle] ?? 0;
      const isBefore =
        start === head ? Buffer.compare(keys[middle] ?? key, key) <= 0 : start < head;
      if (isBefore) low = middle + 1;
      else high = middle;
    }
    return idOf === null ? low : (idOf[low] ?? 0);
  };
}

/** Returns the ids of `after` whose records are retired when it follows `before`. */
export function emptiedIn(before: RangesPartitioner, after: RangesPartitioner): number[] {
  const { starts, retiredBefore } = after;
  if (retiredBefore === undefined || retiredBefore === before.retiredBefore) return [];
  const count = starts.indexOf(retiredBefore) + 1;
  return Array.from({ length: count }, (_, index) => after.ids?.[index] ?? index);
}

/** Pads shorter keys with zeros. When the numbers are equal, all bytes are compared. */
function headOf(key: Uint8Array): number {
  let head = 0;
  for (let at = 0; at < headBytes; at += 1) head = head * 256 + (key[at] ?? 0);
  return head;
}
