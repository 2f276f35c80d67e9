// Makes the next version of a ring from a plan, with its moves proposed or done at once. Pure.

import { assert } from '@ringwright/base/assert';
import { directRing, proposeMoves, reshapeRing } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { firstVersion, ringDevices } from '../state/first-version.ts';
import type { Plan, PlanBasis } from './plan.ts';
import { wantedIntervals } from './plan-reshape.ts';

/** Returns version 1, or the version after `head`. `from` must be the very input of the plan. */
export function nextRing(plan: Plan, from: PlanBasis): Ring {
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
