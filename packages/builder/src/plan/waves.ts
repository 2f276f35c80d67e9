// What of a wanted placement may happen in the next version: one slot of a partition. Pure.
// Waiting costs nothing: legal sets are matroid bases, so each part of a change is legal in some
// order, and what is left to do shrinks by exactly what was done.
import type { Placement } from '../place/placement.ts';
import { replicasOf } from '../place/rebalance-work.ts';
import { addLeaf, removeLeaf, type SlotRules, startPartition } from '../place/slot-rules.ts';

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
  // Mostly nothing has to wait: then no copy of 100 MB is made.
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

/** Slots of the partition of which the placements name different leaves. */
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

/** Which leaf to give up for which new one, so that the fewest replicas are outside their bounds. */
function mildestChange(
  change: SlotChange,
  moving: readonly number[],
): { slot: number; leaf: number } {
  const { before, wanted, limits } = change;
  const partition = Math.floor(moving[0]! / before.width);
  const start = partition * before.width;
  const held = [...before.leaf.subarray(start, start + replicasOf(wanted, partition))];
  let best = { slot: moving[0]!, leaf: wanted.leaf[moving[0]!]! };
  let fewest = Infinity;
  for (const slot of moving) {
    for (const source of [slot, ...moving.filter((other) => other !== slot)]) {
      const leaf = wanted.leaf[source]!;
      const leaves = held.slice();
      leaves[slot - start] = leaf;
      const misfits = countMisfits(limits.rules, partition, leaves);
      if (misfits >= fewest) continue;
      fewest = misfits;
      best = { slot, leaf };
    }
  }
  return best;
}

/** How many of the leaves are beside those that can be completed to a legal set of the partition. */
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

/** Puts replicas that stayed in a partition back into their own rows; the sets stay as they are. */
export function keepRows(before: Placement, wanted: Placement): void {
  for (let partition = 0; partition < before.partitions; partition += 1) {
    const start = partition * before.width;
    const end = start + before.width;
    for (let slot = start; slot < end; slot += 1) {
      const stays = before.leaf[slot]!;
      if (stays === before.none || wanted.leaf[slot] === stays) continue;
      for (let other = start; other < end; other += 1) {
        if (wanted.leaf[other] !== stays) continue;
        wanted.leaf[other] = wanted.leaf[slot]!;
        wanted.leaf[slot] = stays;
      }
    }
  }
}
