// Targets and marks for held devices: those that get no slots, and those that also keep all of
// theirs. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { type Ring, slotCount } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { loadsOf, placementOf } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';
import { type Targets, targetsOfLeaves } from './targets.ts';

export interface HeldLeaves {
  /** By leaf, 1: it gets no slot of a partition that it did not hold before. */
  readonly closed: Uint8Array;
  /** By leaf, 1: no slot is taken from it. */
  readonly kept: Uint8Array;
}

/** Returns null when no device is held. */
export function heldLeaves(tree: TierTree, { devices }: BuilderState): HeldLeaves | null {
  const holds = Array.from(tree.deviceIds, (id) => devices[id]?.hold);
  if (holds.every((hold) => hold === undefined)) return null;
  return {
    closed: Uint8Array.from(holds, (hold) => (hold === undefined ? 0 : 1)),
    kept: Uint8Array.from(holds, (hold) => (hold === 'maintenance' ? 1 : 0)),
  };
}

/**
 * Returns targets in which a kept device has what it holds, and all other devices get the same
 * multiple of their shares. A `no-target` device never gets more than it holds.
 */
function heldTargets(
  tree: TierTree,
  targets: Targets,
  counts: {
    readonly held: HeldLeaves;
    readonly loads: Int32Array;
    readonly partitions: number;
    readonly slots: number;
  },
): Targets {
  const { held, loads, partitions, slots } = counts;
  const slotsMax = Float64Array.from({ length: tree.leaves }, (_, leaf) =>
    held.closed[leaf] === 1 ? loads[tree.firstLeaf + leaf]! : partitions,
  );
  const share = (leaf: number): number => targets.exact[tree.firstLeaf + leaf]!;
  const targetOf = (leaf: number, factor: number): number =>
    held.kept[leaf] === 1 ? slotsMax[leaf]! : Math.min(slotsMax[leaf]!, factor * share(leaf));
  const total = (factor: number): number => {
    let sum = 0;
    for (let leaf = 0; leaf < tree.leaves; leaf += 1) sum += targetOf(leaf, factor);
    return sum;
  };
  let low = 0;
  let high = 1;
  while (total(high) < slots && high < partitions * slots) high *= 2;
  if (total(high) < slots * (1 - 1e-9)) {
    throw new CodedError(
      'REPLICAS_EXCEED_DEVICES',
      `${slots} slots, but room for only ${Math.floor(total(high))} while devices are in maintenance`,
      {
        hint: 'ring-builder maintenance RING dN --off ends the maintenance of a device',
        details: { slots },
      },
    );
  }
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    if (total(middle) < slots) low = middle;
    else high = middle;
  }
  const leaves = Float64Array.from({ length: tree.leaves }, (_, leaf) => targetOf(leaf, high));
  return targetsOfLeaves(tree, leaves, { partitions, slots });
}

/** Returns the problem with the targets that held devices leave to the others. */
export function heldProblem(
  problem: PlacementProblem,
  state: BuilderState,
  head: Pick<Ring, 'partitions' | 'replicas' | 'table'>,
): PlacementProblem {
  const { tree, targets, ring } = problem;
  const held = heldLeaves(tree, state);
  if (held === null) return problem;
  const loads = loadsOf(placementOf(head, tree), tree);
  const slots = slotCount(ring.partitions, ring.replicas);
  const { partitions } = ring;
  return { ...problem, targets: heldTargets(tree, targets, { held, loads, partitions, slots }) };
}

/** For a first version: held devices have no slots to keep yet, so they get weight 0. */
export function withoutHeld(state: BuilderState): BuilderState {
  if (state.devices.every((device) => device?.hold === undefined)) return state;
  const devices = state.devices.map((device) =>
    device?.hold === undefined ? device : { ...device, weight: 0 },
  );
  return { ...state, devices };
}
