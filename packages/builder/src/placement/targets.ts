// The slots that each node of the tree should hold, and the bounds of each partition there. Pure.
import { must } from '@ringwright/base/assert';
import type { Shares } from '../shares/shares.ts';
import type { TierTree } from '../state/tier-tree.ts';
import type { PartitionBounds } from './partition-bounds.ts';

/** A target this near to a whole number is rounded to it: shares come from divisions. */
const SNAP = 1e-6;

export interface Targets {
  /** By node: exact share in slots. Parents add up their rounded children. */
  readonly exact: Float64Array;
  readonly floor: Int32Array;
  readonly ceil: Int32Array;
  /** By node: least and most replicas of a partition. Derived from the share, not from a quota. */
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  /** By partition with a pin: its own bounds; absent without pins. */
  readonly own?: ReadonlyMap<number, PartitionBounds>;
}

/** Returns the targets of a ring of `partitions` with `slots` in total. */
export function computeTargets(
  tree: TierTree,
  shares: Shares,
  ring: { readonly partitions: number; readonly slots: number },
): Targets {
  const leaves = new Float64Array(tree.leaves);
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    leaves[leaf] = ring.partitions * must(shares.wanted[tree.firstLeaf + leaf], 'a share per leaf');
  }
  return targetsOfLeaves(tree, leaves, ring);
}

/** Returns the targets for real numbers by leaf that add up to `slots`. */
export function targetsOfLeaves(
  tree: TierTree,
  leaves: Float64Array,
  ring: { readonly partitions: number; readonly slots: number },
): Targets {
  const exact = new Float64Array(tree.nodes);
  exact.set(leaves, tree.firstLeaf);
  // A node is rounded before its parent adds it up. Otherwise a parent's ceiling could be above the
  // sum of its children's ceilings, and quotas would not add up.
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    exact[v] = snap(exact[v]!);
    exact[tree.parent[v]!]! += exact[v]!;
  }
  exact[0] = ring.slots;
  const floor = Int32Array.from(exact, Math.floor);
  const ceil = Int32Array.from(exact, Math.ceil);
  return {
    exact,
    floor,
    ceil,
    low: Uint8Array.from(floor, (slots) => Math.floor(slots / ring.partitions)),
    high: Uint8Array.from(ceil, (slots) => Math.ceil(slots / ring.partitions)),
  };
}

function snap(value: number): number {
  const rounded = Math.round(value);
  return Math.abs(value - rounded) < SNAP ? rounded : value;
}
