// Draws a few legal leaves for a slot and takes the one that shares least with its partition. Pure.
import { shiftLoad } from './balance.ts';
import { findLeaf, type Wanted } from './find-leaf.ts';
import { type HeldSlots, pairScore, shiftPairs } from './pair-counts.ts';
import type { Placement } from './placement.ts';
import { type RebalanceWork, replicasOf } from './rebalance-work.ts';

/** Two candidates already bring most of the benefit; each costs a walk down the tree. */
const CANDIDATES = 4;

/** The slot of the table that gets a leaf. */
export interface SlotPlace {
  readonly partition: number;
  readonly slot: number;
}

/** Returns a wanted leaf under node `at.below` that the partition in the rules may get, or -1. */
export function drawLeaf(
  work: RebalanceWork,
  slotPlace: SlotPlace & { readonly below: number },
  wanted: Wanted,
): number {
  const { pairs, placement } = work;
  const first = findLeaf(work, slotPlace.below, wanted);
  if (first < 0 || pairs === null) return first;
  const held = heldSlots(placement, slotPlace.partition);
  let best = first;
  let bestScore = pairScore(pairs, first, held);
  for (let i = 1; i < CANDIDATES; i += 1) {
    const other = findLeaf(work, slotPlace.below, wanted);
    if (other === best) continue;
    const score = pairScore(pairs, other, held);
    if (score < bestScore) {
      best = other;
      bestScore = score;
    }
  }
  return best;
}

/** Assigns another leaf (or `none`) to a slot, and updates loads and pair counts. */
export function setSlot(work: RebalanceWork, slotPlace: SlotPlace, to: number): void {
  const { placement, pairs, balance } = work;
  const from = placement.leaf[slotPlace.slot]!;
  const held = heldSlots(placement, slotPlace.partition);
  placement.leaf[slotPlace.slot] = placement.none;
  if (from !== placement.none) {
    shiftLoad(balance, from, -1);
    if (pairs !== null) shiftPairs(pairs, from, { ...held, by: -1 });
  }
  if (to !== placement.none) {
    shiftLoad(balance, to, 1);
    if (pairs !== null) shiftPairs(pairs, to, { ...held, by: 1 });
  }
  placement.leaf[slotPlace.slot] = to;
}

function heldSlots(placement: Placement, partition: number): HeldSlots {
  const start = partition * placement.width;
  return { leaf: placement.leaf, start, end: start + replicasOf(placement, partition) };
}
