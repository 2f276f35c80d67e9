// Augments along shortest paths: a blocking flow, depth first with current-arc pointers. Pure.
import { setSlot } from '../placement/draw-leaf.ts';
import { findLeaf } from '../placement/find-leaf.ts';
import type { Placement } from '../placement/placement.ts';
import {
  enterPartition,
  hadLeaf,
  leavePartition,
  mayGive,
  type RebalanceWork,
  replicasOf,
  slotOf,
} from '../placement/rebalance-work.ts';
import { addLeaf, hasRoom, removeLeaf } from '../placement/slot-rules.ts';
import { COST, droppedLeaves, type FlowGraph } from './flow-graph.ts';

/** One arc of a path; a rounding arc has no partition. */
interface Arc {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

interface Search {
  readonly graph: FlowGraph;
  readonly index: LeafIndex;
  /** By leaf: position in the index; entries before it lead nowhere in this phase. */
  readonly cursor: Int32Array;
  /** By leaf: 1 when no path from it leads to a deficit any more. */
  readonly dead: Uint8Array;
  /** By label: per node, the number of leaves below with this label that are not dead. */
  readonly live: ReadonlyMap<number, Int32Array>;
  /** Labels of deficits that end a path lie in [nearest, nearest + 1) * COST. */
  readonly nearest: number;
}

/** Moves all units that can move along paths of the least cost, and returns their number. */
export function augmentPaths(graph: FlowGraph, nearest: number): number {
  const { work } = graph;
  const { tree, balance } = work;
  const index = leafIndex(work.placement, graph.partitions);
  const search: Search = {
    graph,
    index,
    cursor: index.start.slice(0, tree.leaves),
    dead: new Uint8Array(tree.leaves),
    live: liveCounts(graph),
    nearest,
  };
  let units = 0;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const node = tree.firstLeaf + leaf;
    while (balance.loads[node]! > balance.quotas[node]! && search.dead[leaf] === 0) {
      const path: Arc[] = [];
      if (findPath(search, leaf, path) && applyPath(graph, path)) units += 1;
      else break;
    }
  }
  return units;
}

/** Appends the arcs of a path to a deficit, the last arc first. */
function findPath(search: Search, leaf: number, path: Arc[]): boolean {
  const { graph, dead } = search;
  const { tree, balance } = graph.work;
  const node = tree.firstLeaf + leaf;
  const label = graph.labels[node]!;
  const short = balance.loads[node]! < balance.quotas[node]!;
  if (short && Math.floor(label / COST) === search.nearest) return true;
  if (throughPartitions(search, leaf, path) || throughRounding(search, leaf, path)) return true;
  dead[leaf] = 1;
  const counts = search.live.get(label);
  for (let v = node; counts !== undefined; v = tree.parent[v]!) {
    counts[v]! -= 1;
    if (v === 0) break;
  }
  return false;
}

function throughPartitions(search: Search, from: number, path: Arc[]): boolean {
  const { cursor, index } = search;
  for (; cursor[from]! < index.start[from + 1]!; cursor[from]! += 1) {
    const partition = index.partitions[cursor[from]!]!;
    for (;;) {
      const to = nextLeaf(search, partition, from);
      if (to < 0) break;
      if (findPath(search, to, path)) {
        path.push({ partition, from, to });
        return true;
      }
    }
  }
  return false;
}

/** Returns a leaf that the partition may take for `from` on a shortest path, or -1. */
function nextLeaf(search: Search, partition: number, from: number): number {
  const { graph, dead, live } = search;
  const { work, labels } = graph;
  const { rules, tree } = work;
  if (slotOf(work.placement, partition, from) < 0 || !mayGive(work, partition, from)) return -1;
  if (!enterPartition(work, partition)) return -1;
  // The arc saves 1 when the partition only just got the leaf `from`.
  const tail = hadLeaf(work, partition, from) ? 0 : -COST;
  const near = labels[tree.firstLeaf + from]! + 1 + tail;
  removeLeaf(rules, from);
  const dropped = droppedLeaves(work, partition);
  let to =
    dropped.find((leaf) => {
      const node = tree.firstLeaf + leaf;
      return labels[node] === near && dead[leaf] === 0 && hasRoom(rules, node);
    }) ?? -1;
  const counts = live.get(near + COST);
  if (to < 0 && counts !== undefined) {
    const found = findLeaf(work, 0, { plus: counts, minus: rules.zeros });
    if (!dropped.includes(found)) to = found;
  }
  addLeaf(rules, from);
  leavePartition(work, partition);
  return to;
}

function throughRounding(search: Search, from: number, path: Arc[]): boolean {
  const { graph, live } = search;
  const counts = live.get(graph.labels[graph.work.tree.firstLeaf + from]! + 1);
  if (counts === undefined) return false;
  for (;;) {
    const to = findRoundable(graph, from, counts);
    if (to < 0) return false;
    if (findPath(search, to, path)) {
      path.push({ partition: -1, from, to });
      return true;
    }
  }
}

/** Returns by label and node the number of leaves below that have the label. */
function liveCounts({ labels, work }: FlowGraph): Map<number, Int32Array> {
  const { tree } = work;
  const live = new Map<number, Int32Array>();
  for (let leaf = tree.firstLeaf; leaf < tree.nodes; leaf += 1) {
    const label = labels[leaf]!;
    let counts = live.get(label);
    if (counts === undefined) {
      counts = new Int32Array(tree.nodes);
      live.set(label, counts);
    }
    for (let v = leaf; ; v = tree.parent[v]!) {
      counts[v]! += 1;
      if (v === 0) break;
    }
  }
  return live;
}

/** Applies the arcs from the source on. Undoes all of them when one is no longer legal. */
function applyPath(graph: FlowGraph, path: readonly Arc[]): boolean {
  for (let i = path.length - 1; i >= 0; i -= 1) {
    if (applyArc(graph, path[i]!)) continue;
    for (let undone = i + 1; undone < path.length; undone += 1) {
      const { partition, from, to } = path[undone]!;
      applyArc(graph, { partition, from: to, to: from });
    }
    return false;
  }
  return true;
}

function applyArc({ work }: FlowGraph, arc: Arc): boolean {
  const { partition, from, to } = arc;
  if (partition < 0) {
    shiftQuota(work, from, to);
    return true;
  }
  const { rules, tree } = work;
  const slot = slotOf(work.placement, partition, from);
  if (slot < 0 || !enterPartition(work, partition)) return false;
  removeLeaf(rules, from);
  const legal = hasRoom(rules, tree.firstLeaf + to);
  addLeaf(rules, from);
  leavePartition(work, partition);
  if (legal) setSlot(work, { partition, slot }, to);
  return legal;
}

/** By leaf, the partitions that have it. */
interface LeafIndex {
  /** Leaf i has the entries start[i] up to, but not including, start[i + 1] of `partitions`. */
  readonly start: Int32Array;
  readonly partitions: Int32Array;
}

function leafIndex(placement: Placement, partitions: Int32Array): LeafIndex {
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
      const leafId = leaf[slot]!;
      list[next[leafId]!] = partition;
      next[leafId]! += 1;
    }
  }
  return { start, partitions: list };
}

/** Returns a leaf in `counts` whose quota may drop by one if that of `from` rises, or -1. */
function findRoundable(graph: FlowGraph, from: number, counts: Int32Array): number {
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
  search: { readonly counts: Int32Array; readonly except: number },
): number {
  const { tree, balance } = graph.work;
  if (v >= tree.firstLeaf) return v;
  const first = tree.firstChild[v]!;
  for (let u = first; u < first + tree.childCount[v]!; u += 1) {
    if (u === search.except || search.counts[u]! <= 0) continue;
    if (balance.quotas[u]! <= graph.targets.floor[u]!) continue;
    const found = lowerable(graph, u, search);
    if (found >= 0) return found;
  }
  return -1;
}

/** Adds one to `up` and subtracts one from `down`, on all nodes below their common ancestor. */
function shiftQuota({ tree, balance }: RebalanceWork, up: number, down: number): void {
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
