// Bellman and Ford over the implicit residual graph: potentials exist exactly at an optimum. Pure.
// An arc e -> d exists when some partition may replace e by d, or when the shares of e and d may be
// rounded the other way. It costs 1 when d is new to the partition, and saves 1 when e was new.

import { boundsOf } from '../placement/targets.ts';
import { type CertificateGraph, countLeaf, includes, leavesOf } from './certificate-graph.ts';

interface Potentials {
  /** Whether they converged: no cycle of arcs saves a move. */
  readonly converged: boolean;
  readonly passes: number;
  /** Leaves on a cycle that saves a move; empty when converged. */
  readonly cycle: readonly number[];
}

/** Each pass is linear in its partitions: the changed ones, or all when they can matter. */
export function findPotentials(graph: CertificateGraph, changed: Int32Array): Potentials {
  for (let passes = 1; ; passes += 1) {
    let moved = relaxRounding(graph);
    for (const partition of changed) if (relaxPartition(graph, partition)) moved = true;
    if (!moved && lowest(graph) < -1) moved = relaxOthers(graph, changed);
    if (!moved) return { converged: true, passes, cycle: [] };
    const cycle = findCycle(graph);
    if (cycle.length > 0) return { converged: false, passes, cycle };
  }
}

function lowest({ potential }: CertificateGraph): number {
  let least = 0;
  for (const value of potential) least = Math.min(least, value);
  return least;
}

/** Relaxes the unchanged partitions: each arc costs 1, so only potentials below -1 matter. */
function relaxOthers(graph: CertificateGraph, changed: Int32Array): boolean {
  let moved = false;
  let next = 0;
  for (let partition = 0; partition < graph.partitions; partition += 1) {
    if (changed[next] === partition) next += 1;
    else if (relaxPartition(graph, partition)) moved = true;
  }
  return moved;
}

interface Climb {
  readonly graph: CertificateGraph;
  readonly from: number;
  readonly old: Int32Array;
  readonly oldSlots: number;
  /** Potential of `from`, less 1 when the partition only just got it. */
  readonly tail: number;
  /** By node: least and most replicas of the partition. */
  readonly low: Uint8Array;
  readonly high: Uint8Array;
}

function relaxPartition(graph: CertificateGraph, partition: number): boolean {
  const old = new Int32Array(graph.before.length);
  const held = new Int32Array(graph.after.length);
  const oldSlots = leavesOf(graph, { table: graph.before, partition }, old);
  const slots = leavesOf(graph, { table: graph.after, partition }, held);
  for (let slot = 0; slot < slots; slot += 1) countLeaf(graph, held[slot]!, 1);
  const { low, high } = boundsOf(graph.targets, partition);
  let moved = false;
  for (let slot = 0; slot < slots; slot += 1) {
    const from = held[slot]!;
    const tail = graph.potential[from]! - (includes(old, oldSlots, from) ? 0 : 1);
    if (relaxSlot({ graph, from, old, oldSlots, tail, low, high })) moved = true;
  }
  for (let slot = 0; slot < slots; slot += 1) countLeaf(graph, held[slot]!, -1);
  return moved;
}

/** Relaxes the arcs from one slot: cost 0 to leaves that the partition dropped, 1 to others. */
function relaxSlot(arc: Climb): boolean {
  const { graph, old, oldSlots } = arc;
  const { tree, count, potential } = graph;
  let moved = false;
  for (let slot = 0; slot < oldSlots; slot += 1) {
    const leaf = old[slot]!;
    if (leaf < 0 || count[tree.firstLeaf + leaf]! > 0 || potential[leaf]! <= arc.tail) continue;
    if (mayExchange(arc, leaf)) moved = setPotential(arc, leaf, arc.tail);
  }
  return arc.tail + 1 < 0 && climb(arc) ? true : moved;
}

/** Whether the partition stays within its bounds when it exchanges `from` for `to`. */
function mayExchange({ graph, from, low, high }: Climb, to: number): boolean {
  const { tree, count } = graph;
  let a = tree.firstLeaf + from;
  let b = tree.firstLeaf + to;
  while (a !== b) {
    if (count[a]! - 1 < low[a]! || count[b]! + 1 > high[b]!) return false;
    a = tree.parent[a]!;
    b = tree.parent[b]!;
  }
  return true;
}

function setPotential({ graph, from }: Climb, leaf: number, value: number): true {
  graph.potential[leaf] = value;
  graph.highest[graph.tree.firstLeaf + leaf] = value;
  graph.cameFrom[leaf] = from;
  return true;
}

/** Goes up from the leaf while lower bounds permit, and down from each node on the way. */
function climb(arc: Climb): boolean {
  const { tree, count, highest } = arc.graph;
  let moved = false;
  let below = tree.firstLeaf + arc.from;
  while (below > 0 && count[below]! - 1 >= arc.low[below]!) {
    const meeting = tree.parent[below]!;
    const first = tree.firstChild[meeting]!;
    for (let u = first; u < first + tree.childCount[meeting]!; u += 1) {
      if (u !== below && highest[u]! > arc.tail + 1 && descend(arc, u)) moved = true;
    }
    below = meeting;
  }
  return moved;
}

function descend(arc: Climb, v: number): boolean {
  const { tree, count, highest } = arc.graph;
  if (count[v]! + 1 > arc.high[v]!) return false;
  if (v >= tree.firstLeaf) return setPotential(arc, v - tree.firstLeaf, arc.tail + 1);
  let moved = false;
  let most = -Infinity;
  const first = tree.firstChild[v]!;
  for (let u = first; u < first + tree.childCount[v]!; u += 1) {
    if (highest[u]! > arc.tail + 1 && descend(arc, u)) moved = true;
    most = Math.max(most, highest[u]!);
  }
  highest[v] = most;
  return moved;
}

/**
 * Relaxes rounding arcs, of cost 0: up while a node is below its ceiling, down while it is above
 * its floor.
 */
function relaxRounding(graph: CertificateGraph): boolean {
  const { tree, targets, loads, potential, highest, cameFrom } = graph;
  const best = new Int32Array(tree.nodes).fill(1);
  const origin = new Int32Array(tree.nodes).fill(-1);
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    if (v >= tree.firstLeaf) {
      best[v] = potential[v - tree.firstLeaf]!;
      origin[v] = v - tree.firstLeaf;
    }
    const up = tree.parent[v]!;
    if (loads[v]! + 1 > targets.ceil[v]! || best[v]! >= best[up]!) continue;
    best[up] = best[v]!;
    origin[up] = origin[v]!;
  }
  let moved = false;
  for (let v = 1; v < tree.nodes; v += 1) {
    const up = tree.parent[v]!;
    if (loads[v]! - 1 < targets.floor[v]! || best[up]! >= best[v]!) continue;
    best[v] = best[up]!;
    origin[v] = origin[up]!;
    if (v < tree.firstLeaf) continue;
    const leaf = v - tree.firstLeaf;
    potential[leaf] = best[v]!;
    highest[v] = best[v]!;
    cameFrom[leaf] = origin[v]!;
    moved = true;
  }
  return moved;
}

/** Finds a cycle among the arcs that set the potentials. It exists only if its cost is negative. */
function findCycle({ tree, cameFrom }: CertificateGraph): number[] {
  const seenBy = new Int32Array(tree.leaves).fill(-1);
  for (let start = 0; start < tree.leaves; start += 1) {
    let leaf = start;
    while (leaf >= 0 && seenBy[leaf] === -1) {
      seenBy[leaf] = start;
      leaf = cameFrom[leaf]!;
    }
    if (leaf < 0 || seenBy[leaf] !== start) continue;
    const cycle = [leaf];
    for (let at = cameFrom[leaf]!; at !== leaf; at = cameFrom[at]!) cycle.push(at);
    return cycle.reverse();
  }
  return [];
}
