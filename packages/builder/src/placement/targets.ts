// The slots that each node of the tree should hold, and the bounds of each partition there. Pure.
import { must } from '@ringwright/base/assert';
import type { Shares } from '../shares/shares.ts';
import type { TierTree } from '../state/tier-tree.ts';

/** A target this near to a whole number is rounded to it: shares come from divisions. */
const SNAP = 1e-6;

/** By node: least and most replicas of a partition. */
export interface Bounds {
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

export interface PartitionBounds {
  /** Nodes whose bounds differ from the common ones, and their bounds, in the same order. */
  readonly nodes: Int32Array;
  readonly low: Uint8Array;
  readonly high: Uint8Array;
  /** Whether the common bounds hold as well. */
  readonly dispersed: boolean;
}

/** Its common bounds are derived from the share, not from a quota. */
export interface Targets extends Bounds {
  /** By node: exact share in slots. Parents add up their rounded children. */
  readonly exact: Float64Array;
  readonly floor: Int32Array;
  readonly ceil: Int32Array;
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

/** Returns the bounds of one partition: its own, or the common ones. */
export function boundsOf(targets: Targets, partition: number): Bounds {
  const own = targets.own?.get(partition);
  if (own === undefined) return targets;
  const [low, high] = [targets.low.slice(), targets.high.slice()];
  own.nodes.forEach((node, i) => {
    low[node] = own.low[i]!;
    high[node] = own.high[i]!;
  });
  return { low, high };
}

function snap(value: number): number {
  const rounded = Math.round(value);
  return Math.abs(value - rounded) < SNAP ? rounded : value;
}
