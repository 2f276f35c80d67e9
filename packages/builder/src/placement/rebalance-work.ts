// The working set of one rebalance, shared by its steps. Pure data.
import type { Balance } from './balance.ts';
import type { LeafSearch } from './find-leaf.ts';
import type { PairCounts } from './pair-counts.ts';
import type { Placement } from './placement.ts';
import { addLeaf, removeLeaf, startPartition } from './slot-rules.ts';

export interface RebalanceWork extends LeafSearch {
  /** The placement before the rebalance, and the one that the steps change. */
  readonly before: Placement;
  readonly placement: Placement;
  readonly balance: Balance;
  /** By partition: 1 when it may not change, except for slots of removed devices. */
  readonly frozen: Uint8Array | null;
  /** By slot: 1 when its device was removed, so that it must move now. */
  readonly forced: Uint8Array | null;
  /** By leaf: 1 when no slot is taken from it. */
  readonly kept: Uint8Array | null;
  readonly pairs: PairCounts | null;
}

/** Returns the number of replicas of a partition. */
export function replicasOf(
  { cut, most }: Pick<Placement, 'cut' | 'most'>,
  partition: number,
): number {
  return partition < cut ? most : most - 1;
}

/** Returns the slot of the partition that has the leaf, or -1. */
export function slotOf(placement: Placement, partition: number, leaf: number): number {
  const start = partition * placement.width;
  const end = start + replicasOf(placement, partition);
  for (let slot = start; slot < end; slot += 1) if (placement.leaf[slot] === leaf) return slot;
  return -1;
}

/** Whether the partition had the leaf before; false for an heir that takes over a slot. */
export function hadLeaf(
  { before }: Pick<RebalanceWork, 'before'>,
  partition: number,
  leaf: number,
): boolean {
  return slotOf(before, partition, leaf) >= 0;
}

/** Whether the partition may give up the leaf. A frozen one may give up only a new leaf. */
export function mayGive(
  work: Pick<RebalanceWork, 'before' | 'frozen' | 'kept'>,
  partition: number,
  leaf: number,
): boolean {
  if (work.kept?.[leaf] === 1) return false;
  return work.frozen?.[partition] !== 1 || !hadLeaf(work, partition, leaf);
}

type PartitionRules = Pick<RebalanceWork, 'placement' | 'rules'>;

/** Adds a partition's leaves to the rules. For an illegal set it adds none and returns false. */
export function enterPartition(work: PartitionRules, partition: number): boolean {
  const { placement, rules } = work;
  const { leaf, none } = placement;
  const start = partition * placement.width;
  const end = start + replicasOf(placement, partition);
  startPartition(rules, partition, end - start);
  for (let slot = start; slot < end; slot += 1) {
    if (leaf[slot] !== none && addLeaf(rules, leaf[slot]!)) continue;
    for (let added = start; added < slot; added += 1) removeLeaf(rules, leaf[added]!);
    return false;
  }
  return true;
}

/** Removes a partition's leaves from the rules. */
export function leavePartition(work: PartitionRules, partition: number): void {
  const { leaf, none, width } = work.placement;
  const start = partition * width;
  const end = start + replicasOf(work.placement, partition);
  for (let slot = start; slot < end; slot += 1) {
    if (leaf[slot] !== none) removeLeaf(work.rules, leaf[slot]!);
  }
}
