// The placement that is wanted, made even by bytes where the state has sizes. Pure.
import { evenBytes } from '../flow/even-bytes.ts';
import type { HeldLeaves } from '../place/held-devices.ts';
import type { Placement } from '../place/placement.ts';
import type { Targets } from '../place/targets.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { levelsOf } from '../state/partition-sizes.ts';
import type { TierTree } from '../state/tier-tree.ts';

export interface EvenGoal {
  readonly state: BuilderState;
  readonly tree: TierTree;
  readonly targets: Targets;
  readonly before: Placement;
  readonly frozen: Uint8Array | null;
  readonly held: HeldLeaves | null;
  /** Whether moves may be spent on it: not for a table on the way to another one. */
  readonly spends: boolean;
}

export function evenGoal(wanted: Placement, { state, spends, ...problem }: EvenGoal): Placement {
  const { sizes } = state;
  if (sizes === undefined) return wanted;
  const bytes = levelsOf(sizes, wanted.partitions);
  const swapBudget = spends ? (sizes.swapBudget ?? 0) : 0;
  return evenBytes(wanted, { ...problem, bytes, swapBudget });
}
