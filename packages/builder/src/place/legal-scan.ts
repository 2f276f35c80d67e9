// Checks whether a partition is within its bounds. Every rebalance checks every partition. Pure.
// Counting is faster here than the matroid of slot-rules: one walk up the tree per slot, and only
// where a bound can be violated at all.
import type { RebalanceWork } from './rebalance-work.ts';
import { enterPartition, leavePartition, replicasOf } from './rebalance-work.ts';
import { startPartition } from './slot-rules.ts';

interface LegalScan {
  readonly work: RebalanceWork;
  /** Scratch by node, all 0 between partitions. */
  readonly count: Int32Array;
  /** Nodes that need at least one replica of every partition. */
  readonly needed: Int32Array;
  /**
   * By node: its next ancestor whose upper bound a partition could exceed, or which has a lower
   * bound; 0 when there is none.
   */
  readonly above: Int32Array;
}

export function createScan(work: RebalanceWork): LegalScan {
  const { tree, rules, placement } = work;
  const needed: number[] = [];
  const above = new Int32Array(tree.nodes);
  for (let v = 1; v < tree.nodes; v += 1) {
    if (rules.low[v]! > 0) needed.push(v);
    const up = tree.parent[v]!;
    const matters = up > 0 && (rules.high[up]! < placement.most || rules.low[up]! > 0);
    above[v] = matters ? up : above[up]!;
  }
  return { work, count: new Int32Array(tree.nodes), needed: Int32Array.from(needed), above };
}

/** Whether the partition is full, on different leaves, and within all bounds. */
export function isLegal({ work, count, needed, above }: LegalScan, partition: number): boolean {
  const { placement, tree, rules } = work;
  const { leaf, none } = placement;
  const { high, low } = rules;
  const start = partition * placement.width;
  const end = start + replicasOf(placement, partition);
  if (rules.own !== null) {
    startPartition(rules, partition, end - start);
    if (rules.own.bounds.has(partition)) return isLegalOwn(work, partition);
  }
  let legal = true;
  let counted = start;
  for (; counted < end && legal; counted += 1) {
    if (leaf[counted] === none) break;
    for (let v = tree.firstLeaf + leaf[counted]!; v > 0; v = above[v]!) {
      count[v]! += 1;
      if (count[v]! > high[v]!) legal = false;
    }
  }
  legal &&= counted === end;
  for (let i = 0; legal && i < needed.length; i += 1) {
    if (count[needed[i]!]! < low[needed[i]!]!) legal = false;
  }
  for (let slot = start; slot < counted; slot += 1) {
    for (let v = tree.firstLeaf + leaf[slot]!; v > 0; v = above[v]!) count[v] = 0;
  }
  return legal;
}

/** Checks a partition with its own bounds: `needed` and `above` cover the common bounds only. */
function isLegalOwn(work: RebalanceWork, partition: number): boolean {
  if (!enterPartition(work, partition)) return false;
  leavePartition(work, partition);
  return true;
}
