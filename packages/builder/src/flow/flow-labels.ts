// Distances in the residual graph from the leaves above quota, by Bellman and Ford. Pure.

import {
  enterPartition,
  hadLeaf,
  leavePartition,
  mayGive,
  replicasOf,
} from '../placement/rebalance-work.ts';
import { addLeaf, hasRoom, removeLeaf } from '../placement/slot-rules.ts';
import { COST, droppedLeaves, type FlowGraph, UNREACHED } from './flow-graph.ts';

/** Far more passes than shortest paths have arcs; only a negative cycle would need more. */
const PASSES_MAX = 500;

/** Fills the labels. Returns false when they do not converge. */
export function labelLeaves(graph: FlowGraph): boolean {
  const { labels, work } = graph;
  const { tree, balance } = work;
  labels.fill(UNREACHED);
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) {
    if (balance.loads[v]! > balance.quotas[v]!) labels[v] = 0;
  }
  for (let v = tree.firstLeaf - 1; v >= 0; v -= 1) labels[v] = highestChild(graph, v);
  for (let pass = 0; pass < PASSES_MAX; pass += 1) {
    let changed = relaxRounding(graph);
    for (const partition of graph.partitions) {
      if (relaxPartition(graph, partition)) changed = true;
    }
    if (!changed) return true;
  }
  return false;
}

/** Returns the least cost at which a leaf below quota is reached, or Infinity. */
export function nearestCost({ labels, work }: FlowGraph): number {
  const { tree, balance } = work;
  let nearest = UNREACHED;
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) {
    if (balance.loads[v]! < balance.quotas[v]!) nearest = Math.min(nearest, labels[v]!);
  }
  return nearest === UNREACHED ? Infinity : Math.floor(nearest / COST);
}

function relaxPartition(graph: FlowGraph, partition: number): boolean {
  const { work, labels, costMax } = graph;
  const { placement, rules, tree } = work;
  const start = partition * placement.width;
  const end = start + replicasOf(placement, partition);
  const most = Math.min(labels[0]!, (costMax + 1) * COST);
  const dropped = droppedLeaves(work, partition);
  let inside = false;
  let changed = false;
  for (let slot = start; slot < end; slot += 1) {
    const from = placement.leaf[slot]!;
    const label = labels[tree.firstLeaf + from]!;
    if (label === UNREACHED || !mayGive(work, partition, from)) continue;
    const near = label + 1 - (hadLeaf(work, partition, from) ? 0 : COST);
    if (near + COST >= most && dropped.length === 0) continue;
    if (!inside && !enterPartition(work, partition)) return false;
    inside = true;
    removeLeaf(rules, from);
    for (const leaf of dropped) {
      const node = tree.firstLeaf + leaf;
      if (near < labels[node]! && hasRoom(rules, node)) changed = setLabel(graph, node, near);
    }
    if (near + COST < most) {
      const open = hasRoom(rules, 0) ? 1 : 0;
      if (relaxBelow(graph, open, near + COST)) changed = true;
    }
    addLeaf(rules, from);
  }
  if (inside) leavePartition(work, partition);
  return changed;
}

/** `at` is twice the node number, plus one when the nodes above have room, as in find-leaf. */
function relaxBelow(graph: FlowGraph, at: number, label: number): boolean {
  const { rules, tree } = graph.work;
  const v = at >> 1;
  if (graph.labels[v]! <= label) return false;
  if (v >= tree.firstLeaf) return (at & 1) === 1 && setLabel(graph, v, label);
  let changed = false;
  const first = tree.firstChild[v]!;
  for (let u = first; u < first + tree.childCount[v]!; u += 1) {
    const hasSpare =
      rules.sum[u]! < rules.need[u]! || ((at & 1) === 1 && rules.need[u]! < rules.high[u]!);
    if (rules.closed[u] === 1) continue;
    if (!hasSpare && (u >= tree.firstLeaf || rules.bound[u] === 0)) continue;
    if (relaxBelow(graph, u * 2 + (hasSpare ? 1 : 0), label)) changed = true;
  }
  return changed;
}

/**
 * Relaxes rounding arcs in two sweeps: finds the nearest leaf that may round up, and carries its
 * label to the leaves that may round down.
 */
function relaxRounding(graph: FlowGraph): boolean {
  const { labels, work, targets } = graph;
  const { tree } = work;
  const { quotas } = work.balance;
  const up = new Int32Array(tree.nodes).fill(UNREACHED);
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    const reach = v >= tree.firstLeaf ? labels[v]! : up[v]!;
    const parent = tree.parent[v]!;
    if (quotas[v]! < targets.ceil[v]!) up[parent] = Math.min(up[parent]!, reach);
  }
  let changed = false;
  for (let v = 1; v < tree.nodes; v += 1) {
    if (quotas[v]! <= targets.floor[v]!) continue;
    const reach = up[tree.parent[v]!]!;
    if (v < tree.firstLeaf) up[v] = Math.min(up[v]!, reach);
    else if (reach + 1 < labels[v]!) changed = setLabel(graph, v, reach + 1);
  }
  return changed;
}

function setLabel(graph: FlowGraph, leaf: number, label: number): true {
  const { labels, work } = graph;
  labels[leaf] = label;
  for (let v = work.tree.parent[leaf]!; ; v = work.tree.parent[v]!) {
    const highest = highestChild(graph, v);
    if (labels[v] === highest) return true;
    labels[v] = highest;
    if (v === 0) return true;
  }
}

function highestChild({ labels, work }: FlowGraph, v: number): number {
  const first = work.tree.firstChild[v]!;
  let highest = -UNREACHED;
  for (let u = first; u < first + work.tree.childCount[v]!; u += 1) {
    highest = Math.max(highest, labels[u]!);
  }
  return highest;
}
