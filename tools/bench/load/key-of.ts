// The keys of the benchmarks' records. Pure.

/** Different for every index below 2^32, and in no order: as keys come. 14 bytes. */
export function keyOf(index: number): string {
  return `key:${(Math.imul(index, 0x9e37_79b1) >>> 0).toString().padStart(10, '0')}`;
}

export const keyBytes = 14;
