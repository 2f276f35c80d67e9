// The plan of a composite ring: to the table of its components, at once or in moves. Pure.
import { holderIn, type Ring, type Table } from '@ringwright/ring/ring';
import { placementProblem } from '../place/placement-problem.ts';
import { filledPlan } from './filled-plan.ts';
import type { NextRingFrom } from './next-ring.ts';
import type { Plan, PlannedMove } from './plan.ts';
import { devicePlans } from './plan-devices.ts';
import { revertPlan } from './revert-plan.ts';

/**
 * Where servers have the ring, each partition moves one slot at a time, and devices of one
 * component that only changed places among its rows stay, as in a revert.
 */
export function composePlan(input: NextRingFrom & { readonly table: Table }): Plan {
  const { head, headId, state, table, direct } = input;
  if (head !== null && headId !== null && direct !== true) {
    return revertPlan({ ...input, head, headId, old: { ...head, table } });
  }
  const moves = head === null ? [] : movesBetween(head, table);
  const outcome = { ...(head && { head }), target: table, moves };
  const devices = devicePlans(state, placementProblem(state), outcome);
  return filledPlan(input, { target: table, moves, devices });
}

function movesBetween({ table: before }: Ring, after: Table): PlannedMove[] {
  const moves: PlannedMove[] = [];
  for (let partition = 0; partition < (after[0]?.length ?? 0); partition += 1) {
    for (const [replica, row] of after.entries()) {
      const [from, to] = [before[replica], row].map((one) => one && holderIn(one, partition));
      if (to === undefined || from === undefined || from === to) continue;
      moves.push({ partition, replica, from, to });
    }
  }
  return moves;
}
