// Intervals of keys in byte order, and positions between keys. Pure.
import { keyBytesMax } from './limits.ts';

/** A scan reads it from its end if `reverse`. */
export interface KeyBounds {
  /** Inclusive lower bound; empty: from the first key. */
  readonly from: Uint8Array;
  /** Exclusive upper bound; null: up to the last key. */
  readonly to: Uint8Array | null;
  readonly reverse: boolean;
}

/** Maximum bytes of a position between keys: the longest key plus one byte. */
export const positionBytesMax = keyBytesMax + 1;

/** Restricts an interval to the keys that begin with `prefix`. */
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
  // A copy: slice() of a Buffer would be a view.
  const end = Uint8Array.from(prefix.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return end;
}

export function isEmpty({ from, to }: KeyBounds): boolean {
  return to !== null && Buffer.compare(from, to) >= 0;
}

/** The rest of an interval after a scan has read everything before `position`. */
export function boundsFrom(bounds: KeyBounds, position: Uint8Array): KeyBounds {
  if (position.length === 0) return bounds;
  if (bounds.reverse) {
    const isLower = bounds.to === null || Buffer.compare(position, bounds.to) < 0;
    return isLower ? { ...bounds, to: position } : bounds;
  }
  return Buffer.compare(position, bounds.from) > 0 ? { ...bounds, from: position } : bounds;
}

/**
 * Where a scan continues after a key: a `from` just above the key, or, in reverse, a `to` that
 * excludes it.
 */
export function positionAfterKey(key: Uint8Array, reverse: boolean): Uint8Array {
  return reverse ? Uint8Array.from(key) : Buffer.concat([key, Buffer.alloc(1)]);
}

/** Compares in the scan's direction. */
export function comparePositions(a: Uint8Array, b: Uint8Array, reverse: boolean): number {
  return reverse ? Buffer.compare(b, a) : Buffer.compare(a, b);
}
