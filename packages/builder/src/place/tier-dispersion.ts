// How many slots lie beyond each tier's dispersion cap, and how many of them unavoidably. Pure.

import { tierNames } from '../state/tier-tree.ts';
import type { Placement } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';
import { replicasOf } from './rebalance-work.ts';

export interface TierDispersion {
  readonly tier: string;
  /** Slots beyond the tier's cap per partition, summed over partitions and domains. */
  readonly slotsOverCap: number;
  /** The least possible sum with these shares; a rebalance removes the difference. */
  readonly unavoidable: number;
}

/** Returns one entry each for regions, zones and servers. */
export function dispersionFigures(
  { tree, shares }: PlacementProblem,
  placement: Placement,
  loads: Int32Array,
): TierDispersion[] {
  const over = new Float64Array(tierNames.length);
  const least = new Float64Array(tierNames.length);
  for (let v = 1; v < tree.firstLeaf; v += 1) {
    const spare = placement.partitions * shares.caps[v]!;
    least[tree.level[v]!]! += Math.max(0, loads[v]! - spare);
  }
  const count = new Int32Array(tree.nodes);
  for (let partition = 0; partition < placement.partitions; partition += 1) {
    const start = partition * placement.width;
    const end = start + replicasOf(placement, partition);
    for (let slot = start; slot < end; slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf === placement.none) continue;
      for (let v = tree.parent[tree.firstLeaf + leaf]!; v > 0; v = tree.parent[v]!) {
        count[v]! += 1;
        if (count[v]! > shares.caps[v]!) over[tree.level[v]!]! += 1;
      }
    }
    for (let slot = start; slot < end; slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf === placement.none) continue;
      for (let v = tree.parent[tree.firstLeaf + leaf]!; v > 0; v = tree.parent[v]!) count[v] = 0;
    }
  }
  return tierNames.slice(1, -1).map((tier, index) => ({
    tier,
    slotsOverCap: over[index + 1]!,
    unavoidable: least[index + 1]!,
  }));
}
