// Finds, among tables with the same number of moves, one that spreads bytes more evenly. Pure.
// It is a local search: it ends when no change of one slot, and no tried exchange of two, helps.
import { byteLooksMax } from '@ringwright/base/limits-rings';
import type { Placement } from '../placement/placement.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { levelsOf } from '../state/partition-sizes.ts';
import { type ByteLoads, type ByteProblem, byteLoads, giveSlot } from './byte-loads.ts';
import { type ByteSwap, bestSwap } from './byte-swap.ts';
import { droppedLeaves } from './flow-graph.ts';

interface EvenGoal extends Omit<ByteProblem, 'bytes'> {
  readonly state: BuilderState;
  /** Whether moves may be spent on even bytes; false for an intermediate table. */
  readonly spends: boolean;
}

/** Returns the wanted placement, with bytes evened out if the state has sizes. */
export function evenGoal(wanted: Placement, { state, spends, ...problem }: EvenGoal): Placement {
  const { sizes } = state;
  if (sizes === undefined) return wanted;
  const bytes = levelsOf(sizes, wanted.partitions);
  const swapBudget = spends ? (sizes.swapBudget ?? 0) : 0;
  return evenBytes(wanted, { ...problem, bytes, swapBudget });
}

/**
 * Returns a placement as legal as `wanted` that needs no more moves, except for `swapBudget`. Loads
 * are within floor and ceiling of their targets where those of `wanted` are.
 */
export function evenBytes(
  wanted: Placement,
  { swapBudget, ...problem }: ByteProblem & { readonly swapBudget: number },
): Placement {
  const loads = byteLoads(wanted, problem);
  const budgetLeft = { searches: byteLooksMax };
  sweep(loads, budgetLeft);
  for (let budget = swapBudget; budget > 0 && budgetLeft.searches > 0; ) {
    const swap = dearSwap(loads, budget, budgetLeft);
    if (swap === null) break;
    applySwap(loads, swap);
    budget -= swap.cost;
    sweep(loads, budgetLeft);
  }
  return loads.placement;
}

interface SearchBudget {
  searches: number;
}

/** Repeats until no change without cost helps. */
function sweep(loads: ByteLoads, budgetLeft: SearchBudget): void {
  const { placement, bytes, moves } = loads;
  for (let found = true; found && budgetLeft.searches > 0; ) {
    found = false;
    for (let partition = 0; partition < bytes.length && budgetLeft.searches > 0; partition += 1) {
      if (moves[partition] === 0 && droppedLeaves(loads, partition).length === 0) continue;
      const start = partition * placement.width;
      for (let slot = start; slot < start + replicasOf(placement, partition); slot += 1) {
        const swap = findSwap(loads, { slot, most: 0 }, budgetLeft);
        if (swap === null) continue;
        applySwap(loads, swap);
        found = true;
      }
    }
  }
}

/**
 * Returns the change with the highest gain per move for the fullest device, or else for the
 * emptiest.
 */
function dearSwap(loads: ByteLoads, most: number, budgetLeft: SearchBudget): ByteSwap | null {
  const { sums, shares } = loads;
  const leaves = [...shares.keys()].filter((leaf) => shares[leaf]! > 0);
  leaves.sort((a, b) => sums[b]! / shares[b]! - sums[a]! / shares[a]! || a - b);
  for (const leaf of [leaves[0], leaves.at(-1)]) {
    let best: ByteSwap | null = null;
    for (const slot of leaf === undefined ? [] : loads.slots[leaf]!) {
      if (budgetLeft.searches <= 0) break;
      const swap = findSwap(loads, { slot, most }, budgetLeft);
      if (swap !== null && swap.gain > (best?.gain ?? 0)) best = swap;
    }
    if (best !== null) return best;
  }
  return null;
}

function findSwap(
  loads: ByteLoads,
  { slot, most }: { readonly slot: number; readonly most: number },
  budgetLeft: SearchBudget,
): ByteSwap | null {
  budgetLeft.searches -= loads.shares.length;
  return bestSwap(loads, slot, most);
}

function applySwap(loads: ByteLoads, { slot, to, other }: ByteSwap): void {
  const from = loads.placement.leaf[slot]!;
  giveSlot(loads, slot, to);
  if (other !== null) giveSlot(loads, other, from);
}
