// By leaf, the partitions that have it. Pure.
import type { Placement } from './placement.ts';
import { replicasOf } from './rebalance-work.ts';

export interface LeafIndex {
  /** Leaf i has partitions[start[i]] up to partitions[start[i + 1]]. */
  readonly start: Int32Array;
  readonly partitions: Int32Array;
}

export function leafIndex(placement: Placement, partitions: Int32Array): LeafIndex {
  const { leaf, none, width } = placement;
  const start = new Int32Array(none + 2);
  for (const partition of partitions) {
    const first = partition * width;
    for (let slot = first; slot < first + replicasOf(placement, partition); slot += 1) {
      start[leaf[slot]! + 1]! += 1;
    }
  }
  for (let i = 1; i < start.length; i += 1) start[i]! += start[i - 1]!;
  const next = start.slice();
  const list = new Int32Array(start[none + 1]!);
  for (const partition of partitions) {
    const first = partition * width;
    for (let slot = first; slot < first + replicasOf(placement, partition); slot += 1) {
      const at = leaf[slot]!;
      list[next[at]!] = partition;
      next[at]! += 1;
    }
  }
  return { start, partitions: list };
}
