// Counts how often two leaves share a partition, and scores a leaf against a set of others. Pure.
import type { Placement } from './placement.ts';

/** The matrix has leaves^2 counts: 200 MB at 10,000 leaves. Beyond that, spread is random. */
const MATRIX_LEAVES_MAX = 10_000;
/** Two bytes suffice up to here: no pair shares more partitions than the second largest quota. */
const TWO_BYTE_COUNT_MAX = 65_535;

export interface PairCounts {
  readonly leaves: number;
  readonly counts: Uint16Array | Uint32Array;
  /** By leaf: 1 / quota, or 0 without quota, so that no score is infinite. */
  readonly inverse: Float64Array;
}

export function emptyPairCounts(quotas: Int32Array): PairCounts | null {
  const leaves = quotas.length;
  if (leaves > MATRIX_LEAVES_MAX) return null;
  const size = leaves * leaves;
  const [, second = 0] = Int32Array.from(quotas).sort().reverse();
  const counts = second > TWO_BYTE_COUNT_MAX ? new Uint32Array(size) : new Uint16Array(size);
  return { leaves, counts, inverse: Float64Array.from(quotas, (q) => (q > 0 ? 1 / q : 0)) };
}

export function countPairs(pairs: PairCounts, placement: Placement): void {
  const { partitions, width, leaf, none } = placement;
  const { counts, leaves } = pairs;
  for (let start = 0; start < partitions * width; start += width) {
    for (let a = start + 1; a < start + width; a += 1) {
      const x = leaf[a]!;
      if (x === none) continue;
      for (let b = start; b < a; b += 1) {
        const y = leaf[b]!;
        if (y === none) continue;
        counts[x * leaves + y]! += 1;
        counts[y * leaves + x]! += 1;
      }
    }
  }
}

/** Slots [start, end) of a placement: the slots of one partition. */
export interface HeldSlots {
  readonly leaf: Uint16Array | Uint32Array;
  readonly start: number;
  readonly end: number;
}

/** Returns how many partitions `leaf` shares with the leaves in these slots, relative to quotas. */
export function pairScore(pairs: PairCounts, leaf: number, held: HeldSlots): number {
  const { counts, inverse, leaves } = pairs;
  let score = 0;
  for (let slot = held.start; slot < held.end; slot += 1) {
    const other = held.leaf[slot]!;
    if (other < leaves) score += counts[other * leaves + leaf]! * inverse[other]!;
  }
  return score * inverse[leaf]!;
}

/** Counts `leaf` as one more (or one less) companion of the leaves in these slots. */
export function shiftPairs(
  pairs: PairCounts,
  leaf: number,
  held: HeldSlots & { by: 1 | -1 },
): void {
  const { counts, leaves } = pairs;
  for (let slot = held.start; slot < held.end; slot += 1) {
    const other = held.leaf[slot]!;
    if (other >= leaves) continue;
    counts[other * leaves + leaf]! += held.by;
    counts[leaf * leaves + other]! += held.by;
  }
}
