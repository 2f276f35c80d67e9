// The ring a plan becomes: the next version, with its moves proposed or done at once. Pure.

import { assert } from '@ringwright/base/assert';
import { directRing, proposeMoves, reshapeRing } from '@ringwright/ring/advance-ring';
import { firstRing } from '@ringwright/ring/first-ring';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import type { BuilderState } from '../state/builder-state.ts';
import type { Plan } from './plan.ts';
import { wantedIntervals } from './plan-reshape.ts';

export interface NextRingFrom {
  /** What the plan was made from; `headId` is the ring id of `head`. */
  readonly head: Ring | null;
  readonly headId: string | null;
  readonly state: BuilderState;
  /** Go straight to the final table: for rings that no server has loaded. */
  readonly direct?: boolean;
}

/** Version 1, or the version after `head`. The plan must have been made from this very input. */
export function nextRing(plan: Plan, from: NextRingFrom): Ring {
  const { head, headId, state, direct } = from;
  assert(plan.parent === headId && plan.ring === state.ring, 'the plan is of another head or ring');
  const devices = ringDevices(state);
  if (head === null || headId === null) {
    return firstRing({
      keyspace: state.ring,
      cluster: state.cluster,
      partitioner: state.partitioner,
      partitions: partitionCountOf(state.partitioner),
      replicas: state.replicas,
      devices,
      table: plan.target,
    });
  }
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

/** The devices as servers see them: a removed one wants nothing. */
function ringDevices(state: BuilderState): Ring['devices'] {
  return state.devices.map((device) => {
    if (device === null) return null;
    const { state: stateOfDevice, hold: _hold, ramp: _ramp, tokens: _tokens, ...fields } = device;
    return stateOfDevice === 'removed' ? { ...fields, weight: 0 } : fields;
  });
}
