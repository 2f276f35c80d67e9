// Targets while some partitions are frozen: the resulting shortfall is spread evenly. Pure.

import type { TierTree } from '../state/tier-tree.ts';
import type { Placement } from './placement.ts';
import { replicasOf } from './rebalance-work.ts';
import { type Targets, targetsOfLeaves } from './targets.ts';

interface FrozenSlots {
  readonly placement: Placement;
  /** By partition: 1 when it may not change. */
  readonly frozen: Uint8Array;
  /** By slot: 1 when it must move despite its frozen partition, since its device was removed. */
  readonly forced: Uint8Array | null;
}

/**
 * Returns targets in which a leaf keeps its frozen slots where they exceed its share, and all
 * others get the same fraction of their shares. With the final targets, the shortfall would land at
 * random places.
 */
export function interimTargets(
  tree: TierTree,
  targets: Targets,
  frozenSlots: FrozenSlots,
): Targets {
  const { fixed, outside } = frozenLoads(tree, frozenSlots);
  const { placement } = frozenSlots;
  const slots = placement.slots - outside;
  const full = new Uint8Array(tree.leaves);
  let factor = 1;
  for (let changed = true; changed; ) {
    changed = false;
    let fixedSlots = 0;
    let shares = 0;
    for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
      if (full[leaf] === 1) fixedSlots += fixed[leaf]!;
      else shares += targets.exact[tree.firstLeaf + leaf]!;
    }
    factor = shares > 0 ? (slots - fixedSlots) / shares : 0;
    for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
      if (full[leaf] === 1 || fixed[leaf]! <= factor * targets.exact[tree.firstLeaf + leaf]!)
        continue;
      full[leaf] = 1;
      changed = true;
    }
  }
  const leaves = Float64Array.from(fixed, (slotsHere, leaf) =>
    full[leaf] === 1 ? slotsHere : factor * targets.exact[tree.firstLeaf + leaf]!,
  );
  const interim = targetsOfLeaves(tree, leaves, { partitions: placement.partitions, slots });
  const { low, high, own } = targets;
  return { ...interim, low, high, ...(own !== undefined && { own }) };
}

/** Returns the frozen slots by leaf, and the number of frozen slots on devices without share. */
function frozenLoads(
  tree: TierTree,
  { placement, frozen, forced }: FrozenSlots,
): { fixed: Float64Array; outside: number } {
  const fixed = new Float64Array(tree.leaves);
  let outside = 0;
  for (let partition = 0; partition < placement.partitions; partition += 1) {
    if (frozen[partition] !== 1) continue;
    const start = partition * placement.width;
    for (let slot = start; slot < start + replicasOf(placement, partition); slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf !== placement.none) fixed[leaf]! += 1;
      else if (forced?.[slot] !== 1) outside += 1;
    }
  }
  return { fixed, outside };
}
