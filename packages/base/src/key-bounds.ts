// Intervals of keys in the order of their bytes, and places between keys. Pure.
import { keyBytesMax } from './limits.ts';

/** Read from its end when `reverse`. */
export interface KeyBounds {
  /** The lowest key; empty: all from the first. */
  readonly from: Uint8Array;
  /** Below this one; null: all up to the last. */
  readonly to: Uint8Array | null;
  readonly reverse: boolean;
}

/** The bytes of a place between keys: those of the longest key, and one more behind it. */
export const placeBytesMax = keyBytesMax + 1;

/** The keys of an interval that begin with `prefix`. */
export function withinPrefix({ from, to, reverse }: KeyBounds, prefix: Uint8Array): KeyBounds {
  const end = behindPrefix(prefix);
  const isLower = end !== null && (to === null || Buffer.compare(end, to) < 0);
  return {
    from: Buffer.compare(from, prefix) < 0 ? prefix : from,
    to: isLower ? end : to,
    reverse,
  };
}

/** The lowest key above all that begin with `prefix`; null when there is none. */
function behindPrefix(prefix: Uint8Array): Uint8Array | null {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1;
  if (length === 0) return null;
  const end = Uint8Array.from(prefix.subarray(0, length)); // of a Buffer slice() is a view
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

export function isEmpty({ from, to }: KeyBounds): boolean {
  return to !== null && Buffer.compare(from, to) >= 0;
}

/** The rest of an interval of which a scan has read everything before `place`. */
export function boundsFrom(bounds: KeyBounds, place: Uint8Array): KeyBounds {
  if (place.length === 0) return bounds;
  if (bounds.reverse) {
    const isLower = bounds.to === null || Buffer.compare(place, bounds.to) < 0;
    return isLower ? { ...bounds, to: place } : bounds;
  }
  return Buffer.compare(place, bounds.from) > 0 ? { ...bounds, from: place } : bounds;
}

/** Where a scan goes on behind a key: the lowest key that is not before, or not above, it. */
export function placeBehind(key: Uint8Array, reverse: boolean): Uint8Array {
  return reverse ? Uint8Array.from(key) : Buffer.concat([key, Buffer.alloc(1)]);
}

/** In the order of a scan. */
export function comparePlaces(a: Uint8Array, b: Uint8Array, reverse: boolean): number {
  return reverse ? Buffer.compare(b, a) : Buffer.compare(a, b);
}
