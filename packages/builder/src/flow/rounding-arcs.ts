// Arcs that move a unit of quota between leaves while tiers stay at floor or ceiling. Pure.

import type { RebalanceWork } from '../place/rebalance-work.ts';
import type { FlowGraph } from './flow-graph.ts';

/** Returns a leaf in `counts` whose quota may drop by one if that of `from` rises, or -1. */
export function findRoundable(graph: FlowGraph, from: number, counts: Int32Array): number {
  const { work, targets } = graph;
  const { tree, balance } = work;
  let below = tree.firstLeaf + from;
  while (below > 0 && balance.quotas[below]! < targets.ceil[below]!) {
    const meeting = tree.parent[below]!;
    const found = lowerable(graph, meeting, { counts, except: below });
    if (found >= 0) return found - tree.firstLeaf;
    below = meeting;
  }
  return -1;
}

function lowerable(
  graph: FlowGraph,
  v: number,
  wanted: { readonly counts: Int32Array; readonly except: number },
): number {
  const { tree, balance } = graph.work;
  if (v >= tree.firstLeaf) return v;
  const first = tree.firstChild[v]!;
  for (let u = first; u < first + tree.childCount[v]!; u += 1) {
    if (u === wanted.except || wanted.counts[u]! <= 0) continue;
    if (balance.quotas[u]! <= graph.targets.floor[u]!) continue;
    const found = lowerable(graph, u, wanted);
    if (found >= 0) return found;
  }
  return -1;
}

/** Adds one to `up` and subtracts one from `down`, on all nodes below their common ancestor. */
export function shiftQuota({ tree, balance }: RebalanceWork, up: number, down: number): void {
  const { quotas } = balance;
  let a = tree.firstLeaf + up;
  let b = tree.firstLeaf + down;
  while (a !== b) {
    quotas[a]! += 1;
    quotas[b]! -= 1;
    a = tree.parent[a]!;
    b = tree.parent[b]!;
  }
}
