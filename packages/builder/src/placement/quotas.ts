// Whole-number quotas for all nodes at once, with as few necessary moves as possible. Pure.

import type { TierTree } from '../state/tier-tree.ts';
import type { Targets } from './targets.ts';

/** Keeping a slot on its device outweighs keeping it in its tier, which outweighs remainders. */
const KEEP_DEVICE = 100;
const KEEP_TIER = 10;

/**
 * Returns the floor or ceiling of each node's target, additive on the tree. Among all such
 * roundings, it is one with the least sum over devices of max(0, load - quota). A tree program
 * finds it exactly: rounding a node up has one cost, and an inner node rounds up its cheapest
 * children.
 */
export function computeQuotas(
  tree: TierTree,
  targets: Targets,
  loads: Int32Array | null,
): Int32Array {
  const cost = new Float64Array(tree.nodes);
  const order = new Int32Array(tree.nodes);
  for (let v = tree.nodes - 1; v >= 0; v -= 1) {
    const keeps = loads !== null && loads[v]! >= targets.ceil[v]!;
    if (v >= tree.firstLeaf) {
      cost[v] = 1 - (targets.exact[v]! - targets.floor[v]!) - (keeps ? KEEP_DEVICE : 0);
      continue;
    }
    const first = tree.firstChild[v]!;
    const unfixed: number[] = [];
    let floors = 0;
    for (let u = first; u < first + tree.childCount[v]!; u += 1) {
      floors += targets.floor[u]!;
      if (targets.floor[u] !== targets.ceil[u]) unfixed.push(u);
    }
    unfixed.sort((a, b) => cost[a]! - cost[b]! || a - b);
    order.set(unfixed, first);
    const marginal = unfixed[targets.floor[v]! - floors];
    cost[v] = (marginal === undefined ? 0 : cost[marginal]!) - (keeps ? KEEP_TIER : 0);
  }
  return handDown(tree, targets, order);
}

/** `order` holds each node's fractional children, the cheapest to round up first. */
function handDown(tree: TierTree, targets: Targets, order: Int32Array): Int32Array {
  const quotas = Int32Array.from(targets.floor);
  for (let v = 0; v < tree.firstLeaf; v += 1) {
    const first = tree.firstChild[v]!;
    let left = quotas[v]!;
    for (let u = first; u < first + tree.childCount[v]!; u += 1) left -= targets.floor[u]!;
    for (let i = 0; i < left; i += 1) quotas[order[first + i]!]! += 1;
  }
  return quotas;
}

/** Returns a lower bound of the moves: the total shortfall of devices from their quotas. */
export function movesAtLeast(tree: TierTree, quotas: Int32Array, loads: Int32Array): number {
  let moves = 0;
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) {
    moves += Math.max(0, quotas[v]! - loads[v]!);
  }
  return moves;
}
