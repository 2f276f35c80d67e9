// Keeps loads, quotas and shortfalls of every node up to date while slots move. Pure bookkeeping.
import type { TierTree } from '../state/tier-tree.ts';

export interface Balance {
  readonly tree: TierTree;
  /** By node: slots held now, and slots to hold. */
  readonly loads: Int32Array;
  readonly quotas: Int32Array;
  /** By node: the sum of the shortfalls of the leaves below it. */
  readonly missing: Int32Array;
}

export function createBalance(tree: TierTree, loads: Int32Array, quotas: Int32Array): Balance {
  const missing = new Int32Array(tree.nodes);
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    if (v >= tree.firstLeaf) missing[v] = Math.max(0, quotas[v]! - loads[v]!);
    missing[tree.parent[v]!]! += missing[v]!;
  }
  return { tree, loads, quotas, missing };
}

/** Adds one slot to a leaf (`by` 1) or takes one away (`by` -1). */
export function shiftLoad(balance: Balance, leaf: number, by: 1 | -1): void {
  const { tree, loads, quotas, missing } = balance;
  const node = tree.firstLeaf + leaf;
  const before = Math.max(0, quotas[node]! - loads[node]!);
  const change = Math.max(0, quotas[node]! - loads[node]! - by) - before;
  for (let v = node; ; v = tree.parent[v]!) {
    loads[v]! += by;
    missing[v]! += change;
    if (v === 0) return;
  }
}
