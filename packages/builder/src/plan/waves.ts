// The part of a wanted placement that the next version may reach: one slot per partition. Pure.
// Waiting costs nothing. Legal sets are matroid bases, so the parts of a change are legal in some
// order, and each move done reduces the moves left by exactly one.
import type { Placement } from '../placement/placement.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import { addLeaf, removeLeaf, type SlotRules, startPartition } from '../placement/slot-rules.ts';

export interface Wave {
  /** The placement after this version. */
  readonly placement: Placement;
  /** Moves of the wanted placement that wait for later versions. */
  readonly movesLeft: number;
}

export interface WaveLimits {
  /** By slot: 1 when its device was removed or the slot is new: these move together. */
  readonly forced: Uint8Array | null;
  readonly rules: SlotRules;
}

export function firstWave(before: Placement, wanted: Placement, limits: WaveLimits): Wave {
  // Copies the leaves (up to 100 MB) only when a move has to wait, which is rare.
  let { leaf } = wanted;
  let movesLeft = 0;
  for (let partition = 0; partition < before.partitions; partition += 1) {
    if (changesOf(before, wanted, partition) < 2) continue;
    if (leaf === wanted.leaf) leaf = wanted.leaf.slice();
    const moving = movingSlots(before, wanted, partition);
    const forced = moving.filter((slot) => limits.forced?.[slot] === 1);
    for (const slot of moving) {
      if (limits.forced?.[slot] !== 1) leaf[slot] = before.leaf[slot]!;
    }
    if (forced.length === 0) {
      const change = mildestChange({ before, wanted, limits }, moving);
      leaf[change.slot] = change.leaf;
    }
    movesLeft += moving.length - Math.max(1, forced.length);
  }
  return { placement: { ...wanted, leaf }, movesLeft };
}

/** Returns the slots of the partition in which the placements have different leaves. */
export function movingSlots(before: Placement, wanted: Placement, partition: number): number[] {
  const start = partition * before.width;
  const moving: number[] = [];
  for (let slot = start; slot < start + replicasOf(wanted, partition); slot += 1) {
    if (before.leaf[slot] !== wanted.leaf[slot]) moving.push(slot);
  }
  return moving;
}

function changesOf(before: Placement, wanted: Placement, partition: number): number {
  const start = partition * before.width;
  const end = start + replicasOf(wanted, partition);
  let changes = 0;
  for (let slot = start; slot < end; slot += 1) {
    if (before.leaf[slot] !== wanted.leaf[slot]) changes += 1;
  }
  return changes;
}

interface SlotChange {
  readonly before: Placement;
  readonly wanted: Placement;
  readonly limits: WaveLimits;
}

/** Returns the slot and new leaf whose exchange puts the fewest replicas out of bounds. */
function mildestChange(
  change: SlotChange,
  moving: readonly number[],
): { slot: number; leaf: number } {
  const { before, wanted, limits } = change;
  const partition = Math.floor(moving[0]! / before.width);
  const start = partition * before.width;
  const leavesBefore = [...before.leaf.subarray(start, start + replicasOf(wanted, partition))];
  let best = { slot: moving[0]!, leaf: wanted.leaf[moving[0]!]! };
  let fewest = Infinity;
  for (const slot of moving) {
    for (const source of [slot, ...moving.filter((other) => other !== slot)]) {
      const leaf = wanted.leaf[source]!;
      const leaves = leavesBefore.with(slot - start, leaf);
      const misfits = countMisfits(limits.rules, partition, leaves);
      if (misfits >= fewest) continue;
      fewest = misfits;
      best = { slot, leaf };
    }
  }
  return best;
}

/** Returns how many of the leaves do not fit into a set that can be completed legally. */
export function countMisfits(
  rules: SlotRules,
  partition: number,
  leaves: readonly number[],
): number {
  startPartition(rules, partition, leaves.length);
  const held = leaves.filter((leaf) => rules.firstLeaf + leaf < rules.high.length);
  const added = held.filter((leaf) => addLeaf(rules, leaf));
  for (const leaf of added) removeLeaf(rules, leaf);
  return held.length - added.length;
}

/** Moves replicas that stay in a partition back to their own rows. The sets stay the same. */
export function keepRows(before: Placement, wanted: Placement): void {
  for (let partition = 0; partition < before.partitions; partition += 1) {
    const start = partition * before.width;
    const end = start + before.width;
    for (let slot = start; slot < end; slot += 1) {
      const leafBefore = before.leaf[slot]!;
      if (leafBefore === before.none || wanted.leaf[slot] === leafBefore) continue;
      for (let other = start; other < end; other += 1) {
        if (wanted.leaf[other] !== leafBefore) continue;
        wanted.leaf[other] = wanted.leaf[slot]!;
        wanted.leaf[slot] = leafBefore;
      }
    }
  }
}
