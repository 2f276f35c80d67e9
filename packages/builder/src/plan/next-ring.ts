// Makes the next version of a ring from a plan, with its moves proposed or done at once. Pure.

import { assert } from '@ringwright/base/assert';
import { directRing, proposeMoves, reshapeRing } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import { firstVersion, ringDevices } from '../state/first-version.ts';
import type { Plan } from './plan.ts';
import { wantedIntervals } from './plan-reshape.ts';

export interface NextRingFrom {
  /** The input of the plan; `headId` is the ring id of `head`. */
  readonly head: Ring | null;
  readonly headId: string | null;
  readonly state: BuilderState;
  /** Go straight to the final table, without the cap on moves: no server has loaded the ring. */
  readonly direct?: boolean;
}

/** Returns version 1, or the version after `head`. `from` must be the very input of the plan. */
export function nextRing(plan: Plan, from: NextRingFrom): Ring {
  const { head, headId, state, direct } = from;
  assert(plan.parent === headId && plan.ring === state.ring, 'the plan is of another head or ring');
  if (head === null || headId === null) return firstVersion(state, plan.target);
  const devices = ringDevices(state);
  const intervals = wantedIntervals(head, state);
  if (intervals !== null) {
    return reshapeRing(head, headId, { partitioner: intervals, devices, direct: direct === true });
  }
  if (direct) {
    const { replicas } = state;
    return directRing(head, headId, { table: plan.target, devices, replicas });
  }
  return proposeMoves(head, headId, { moves: plan.moves, devices, cut: plan.cut ?? undefined });
}
