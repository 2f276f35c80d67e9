// Spreads the first row evenly: a device's part of it is its part of the whole table. Pure.
import type { Placement } from './placement.ts';
import { replicasOf } from './rebalance-work.ts';

/**
 * Swaps slots within partitions. Placement fills low zones into row 0; clients ask row 0 first, so
 * without this some devices would get three times the reads of others.
 */
export function spreadFirstRows(placement: Placement, quotas: Int32Array): void {
  const { partitions, width, leaf } = placement;
  const taken = new Float64Array(quotas.length);
  for (let partition = 0; partition < partitions; partition += 1) {
    const start = partition * width;
    const end = start + replicasOf(placement, partition);
    let best = start;
    for (let slot = start + 1; slot < end; slot += 1) {
      if (taken[leaf[slot]!]! < taken[leaf[best]!]!) best = slot;
    }
    const first = leaf[best]!;
    leaf[best] = leaf[start]!;
    leaf[start] = first;
    taken[first]! += 1 / quotas[first]!;
  }
}
