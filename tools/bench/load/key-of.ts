// The keys of the benchmarks' records. Pure.

/** Returns a key of 14 bytes: unique for every index below 2^32, and in no order. */
export function keyOf(index: number): string {
  return `key:${(Math.imul(index, 0x9e37_79b1) >>> 0).toString().padStart(10, '0')}`;
}

export const keyBytes = 14;
