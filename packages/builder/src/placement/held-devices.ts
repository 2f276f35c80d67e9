// Targets and marks for held devices: those that get no slots, and those that also keep all of
// theirs. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { type Ring, slotCount } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import { someOf } from '../state/some-of.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { loadsOf, placementOf } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';
import { type Targets, targetsOfLeaves } from './targets.ts';

const HELD_SHOWN_MAX = 5;

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

/** Stands for a share of 0: such a device gets slots only when all others are full. */
const SHARE_LEAST = 2 ** -200;

/**
 * Returns targets in which a kept device has what it holds, and all other devices get the same
 * multiple of their shares. A `no-target` device never gets more than it holds.
 */
function heldTargets(
  { tree, shares, ring: { partitions } }: PlacementProblem,
  counts: {
    readonly held: HeldLeaves;
    readonly loads: Int32Array;
    readonly slots: number;
  },
): Targets {
  const { held, loads, slots } = counts;
  const slotsMax = Float64Array.from({ length: tree.leaves }, (_, leaf) =>
    held.closed[leaf] === 1 ? loads[tree.firstLeaf + leaf]! : partitions,
  );
  const room = slotsMax.reduce((sum, most) => sum + most, 0);
  if (room < slots) {
    throw new CodedError(
      'REPLICAS_EXCEED_DEVICES',
      `${slots} slots, but room for only ${room} while devices are in maintenance`,
      {
        hint: 'ring-builder maintenance RING dN --off ends the maintenance of a device',
        details: { slots },
      },
    );
  }
  // Not the targets by weight, in which a share far below one slot is 0.
  const slotShares = shares.wanted
    .subarray(tree.firstLeaf)
    .map((share) => Math.max(SHARE_LEAST, partitions * share));
  const targetOf = (leaf: number, factor: number): number =>
    held.kept[leaf] === 1 ? slotsMax[leaf]! : Math.min(slotsMax[leaf]!, factor * slotShares[leaf]!);
  const total = (factor: number): number => {
    let sum = 0;
    for (let leaf = 0; leaf < tree.leaves; leaf += 1) sum += targetOf(leaf, factor);
    return sum;
  };
  let low = 0;
  let high = 1;
  while (total(high) < slots) {
    low = high;
    high *= 2;
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
  const { tree, ring } = problem;
  const held = heldLeaves(tree, state);
  if (held === null) return problem;
  const loads = loadsOf(placementOf(head, tree), tree);
  const slots = slotCount(ring.partitions, ring.replicas);
  return { ...problem, targets: heldTargets(problem, { held, loads, slots }) };
}

/**
 * For a first version: held devices have no slots to keep yet, so they get weight 0. Throws
 * REPLICAS_EXCEED_DEVICES when the others are too few, and the held ones would suffice.
 */
export function withoutHeld(state: BuilderState): BuilderState {
  const { ring, replicas } = state;
  const holders = state.devices.filter((one) => one?.state === 'active' && one.weight > 0);
  const held = holders.flatMap((one) => (one?.hold === undefined ? [] : [one.id]));
  const [first] = held;
  if (first === undefined) return state;
  const needed = Math.ceil(replicas);
  const free = holders.length - held.length;
  if (free < needed && needed <= holders.length) {
    throw new CodedError(
      'REPLICAS_EXCEED_DEVICES',
      `${counted(replicas, 'replica needs', 'replicas need')} ${counted(needed, 'device')}, ` +
        `but only ${free} of ${holders.length} with weight may get slots: ` +
        `${someOf(
          held.map((id) => `d${id}`),
          HELD_SHOWN_MAX,
        )} may not`,
      {
        hint: `ring-builder maintenance ${ring} d${first} --off lets a device get slots`,
        details: { replicas, devices: free, held },
      },
    );
  }
  const devices = state.devices.map((device) =>
    device?.hold === undefined ? device : { ...device, weight: 0 },
  );
  return { ...state, devices };
}
