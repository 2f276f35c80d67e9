// The slots that a plan takes from each device and gives to it. Pure.
import type { Ring, Table } from '@ringwright/ring/ring';
import type { PlacementProblem } from '../placement/placement-problem.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { DevicePlan, Plan } from './plan.ts';

export function devicePlans(
  state: BuilderState,
  problem: PlacementProblem,
  /** Without a head, it is the outcome of the first version. */
  outcome: Pick<Plan, 'target' | 'moves'> & { readonly head?: Ring },
): DevicePlan[] {
  const { tree, targets } = problem;
  const count = state.devices.length;
  const before = slotsPerDevice(outcome.head?.table ?? [], count);
  const after = slotsPerDevice(outcome.target, count);
  const slotsIn = new Int32Array(count);
  const slotsOut = new Int32Array(count);
  for (const { from, to } of outcome.moves) {
    slotsIn[to]! += 1;
    if (from !== null) slotsOut[from]! += 1;
  }
  return state.devices.flatMap((device) => {
    if (device === null) return [];
    const { id } = device;
    const leaf = tree.leafOfDevice[id]!;
    return [
      {
        id,
        before: before[id]!,
        after: after[id]!,
        slotsIn: slotsIn[id]!,
        slotsOut: slotsOut[id]!,
        share: leaf < 0 ? 0 : targets.exact[tree.firstLeaf + leaf]!,
      },
    ];
  });
}

/** Returns the number of slots in the table by device id. */
export function slotsPerDevice(table: Table, devices: number): Int32Array {
  const slots = new Int32Array(devices);
  for (const row of table) for (let i = 0; i < row.length; i += 1) slots[row[i]!]! += 1;
  return slots;
}
