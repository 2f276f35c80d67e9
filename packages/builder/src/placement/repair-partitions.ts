// First step of a rebalance: gives each partition a legal set that keeps as many replicas as
// possible. Pure.
import { assert } from '@ringwright/base/assert';
import { drawLeaf, type SlotPlace, setSlot } from './draw-leaf.ts';
import { findLeaf } from './find-leaf.ts';
import {
  enterPartition,
  hadLeaf,
  leavePartition,
  type RebalanceWork,
  replicasOf,
} from './rebalance-work.ts';
import { addLeaf, removeLeaf, startPartition } from './slot-rules.ts';

/** Larger than any leaf's shortfall. */
const CLOSED_COST = 2 ** 30;

/**
 * Fills free slots, and replaces replicas that violate a bound. Legal sets are the bases of a
 * matroid: keeping replicas greedily while the set stays completable keeps the maximum.
 */
export function repairPartitions(work: RebalanceWork): void {
  const { partitions } = work.placement;
  const scan = createScan(work);
  for (let partition = 0; partition < partitions; partition += 1) {
    if (work.frozen?.[partition] === 1) fillFrozen(work, partition);
    else if (!isLegal(scan, partition)) repairOne(work, partition);
  }
}

function repairOne(work: RebalanceWork, partition: number): void {
  const { placement, rules } = work;
  const { leaf, none } = placement;
  const start = partition * placement.width;
  const count = replicasOf(placement, partition);
  startPartition(rules, partition, count);
  // A slot that an heir takes over moves in any case, so existing replicas come first.
  const isNew = (slot: number): number => Number(!hadLeaf(work, partition, leaf[slot]!));
  const slots = Array.from({ length: count }, (_, i) => start + i)
    .filter((slot) => leaf[slot] !== none)
    .sort(
      (a, b) => isNew(a) - isNew(b) || surplus(work, leaf[a]!) - surplus(work, leaf[b]!) || a - b,
    );
  for (const slot of slots) {
    if (addLeaf(rules, leaf[slot]!)) continue;
    setSlot(work, { partition, slot }, none);
  }
  for (let slot = start; slot < start + count; slot += 1) {
    if (leaf[slot] === none) placeSlot(work, { partition, slot });
  }
  leavePartition(work, partition);
}

/** Gives the free slot a leaf: one wanted at all tiers, else one that is wanted, else any. */
function placeSlot(work: RebalanceWork, slotPlace: SlotPlace): void {
  const { balance, rules } = work;
  const { loads, quotas, missing } = balance;
  const top = { ...slotPlace, below: 0 };
  let found = drawLeaf(work, top, { plus: quotas, minus: loads });
  if (found < 0) found = drawLeaf(work, top, { plus: missing, minus: rules.zeros });
  if (found < 0) found = drawLeaf(work, top, { plus: rules.ones, minus: rules.zeros });
  if (found < 0) found = closedLeaf(work);
  assert(found >= 0, 'a completable set can be completed');
  addLeaf(rules, found);
  setSlot(work, slotPlace, found);
}

/** Returns a closed leaf, when only leaves that should get nothing can complete the set. */
function closedLeaf(work: RebalanceWork): number {
  const { closed } = work.rules;
  const savedClosed = closed.slice();
  closed.fill(0);
  const found = findLeaf(work, 0, { plus: work.rules.ones, minus: work.rules.zeros });
  closed.set(savedClosed);
  return found;
}

/** Gives a frozen partition's slots on removed devices new leaves; legal ones if possible. */
function fillFrozen(work: RebalanceWork, partition: number): void {
  const { placement, forced } = work;
  const { leaf, none } = placement;
  const start = partition * placement.width;
  const end = start + replicasOf(placement, partition);
  for (let slot = start; slot < end; slot += 1) {
    if (leaf[slot] !== none || forced?.[slot] !== 1) continue;
    const found = leafBesideFrozen(work, partition, leaf.subarray(start, end));
    setSlot(work, { partition, slot }, found);
  }
}

/**
 * Returns a leaf within the bounds beside the held ones, else the leaf with the largest shortfall
 * that the partition does not hold.
 */
function leafBesideFrozen(
  work: RebalanceWork,
  partition: number,
  held: Uint16Array | Uint32Array,
): number {
  const { rules, balance, tree } = work;
  startPartition(rules, partition, held.length);
  const added = [...held].filter((leaf) => leaf < tree.leaves && addLeaf(rules, leaf));
  let found = findLeaf(work, 0, { plus: balance.missing, minus: rules.zeros });
  if (found < 0) found = findLeaf(work, 0, { plus: rules.ones, minus: rules.zeros });
  for (const leaf of added) removeLeaf(rules, leaf);
  if (found >= 0 && !held.includes(found)) return found;
  let best = -1;
  let bestShort = -Infinity;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const node = tree.firstLeaf + leaf;
    const closed = rules.closed[node] === 1 ? CLOSED_COST : 0;
    const short = balance.quotas[node]! - balance.loads[node]! - closed;
    if (short > bestShort && !held.includes(leaf)) {
      best = leaf;
      bestShort = short;
    }
  }
  assert(best >= 0, 'there are more devices than replicas');
  return best;
}

/** Returns the relative excess of a leaf: replicas on the most overfull leaves leave first. */
function surplus(work: RebalanceWork, leaf: number): number {
  const { loads, quotas } = work.balance;
  const node = work.tree.firstLeaf + leaf;
  if (work.kept?.[leaf] === 1) return -CLOSED_COST;
  return (loads[node]! - quotas[node]!) / loads[node]!;
}

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

function createScan(work: RebalanceWork): LegalScan {
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
function isLegal({ work, count, needed, above }: LegalScan, partition: number): boolean {
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
