// The plan of a composite ring: changes its table to that of its components, at once or in moves.
// Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { IntervalPartitioner } from '@ringwright/ring/partitioner/partitioner';
import { partedParents } from '@ringwright/ring/reshape-ring';
import { deviceIn, type Ring, type Table } from '@ringwright/ring/ring';
import { placementProblem } from '../placement/placement-problem.ts';
import type { BuilderState, Component } from '../state/builder-state.ts';
import { changeCommand } from '../state/composition.ts';
import { dropEmptyDevices } from '../state/drop-empty-devices.ts';
import { filledPlan } from './filled-plan.ts';
import type { Plan, PlanBasis, PlannedMove } from './plan.ts';
import { devicePlans } from './plan-devices.ts';
import { planReshape, reshapingOf, wantedIntervals } from './plan-reshape.ts';
import { revertPlan } from './revert-plan.ts';

interface ComposeFrom extends PlanBasis {
  /** The rows of the components, one after the other. */
  readonly table: Table;
  /** The components of the present version; absent before the first version. */
  readonly components?: readonly Component[] | undefined;
}

export interface ComposePlan {
  readonly plan: Plan;
  /** The builder state of the version. */
  readonly state: BuilderState;
  /** Slots left for the next compose, since a version with a split or merge moves nothing else. */
  readonly slotsLater: number;
}

/**
 * Plans the next version. Where servers have the ring, each partition moves one slot at a time, and
 * devices that only changed rows within one component stay, as in a revert. Partitions that the
 * components have split or merged come first, in place. Throws what planReshape throws, and
 * COMPONENTS_UNFIT when partitions to be merged are on different devices.
 */
export function composePlan(input: ComposeFrom): ComposePlan {
  const { head } = input;
  requireLeft(input);
  const wanted = head === null ? null : wantedIntervals(head, input.state);
  if (head !== null && wanted !== null) return planShapes({ ...input, head }, wanted);
  const state = withoutGone(input, input.table);
  return { plan: planRows({ ...input, state }), state, slotsLater: 0 };
}

/** Unless `direct`: throws COMPONENTS_UNFIT when a device with slots changes its component. */
function requireLeft({ head, direct, state, components: before = [] }: ComposeFrom): void {
  if (head === null || direct === true) return;
  const { keyspace } = head;
  const givers = new Map(
    before.flatMap(({ ring, devices }) => devices.map((id) => [id, ring] as const)),
  );
  for (const { ring, devices } of state.components ?? []) {
    for (const [ownId, id] of devices.entries()) {
      const giver = givers.get(id) ?? ring;
      if (id === null || giver === ring || !head.table.some((row) => row.includes(id))) continue;
      const message = `d${ownId} of ${ring} still has slots of ${giver} in ${keyspace}`;
      throw new CodedError('COMPONENTS_UNFIT', message, {
        hint:
          `ring-builder remove ${ring} d${ownId} && ring-builder commit ${ring} -m TEXT && ` +
          `ring-builder ${changeCommand(state)} && ring-builder rollout ${keyspace}; ` +
          `then ${ring} can have it`,
      });
    }
  }
}

/**
 * Plans the splits and merges. While slots remain to be moved, the version keeps the component
 * versions of its present table. This shows that it does not follow the newer ones yet.
 */
function planShapes(
  input: ComposeFrom & { readonly head: Ring },
  wanted: IntervalPartitioner,
): ComposePlan {
  const { head, components } = input;
  requireTogether(head, wanted);
  const { target } = planReshape(input, wanted);
  const state = withoutGone(input, target);
  const { devices, partitioner } = state;
  const reshaped = { ...head, devices, partitioner, partitions: wanted.partitions, table: target };
  const { moves, movesLeft } = planRows({ ...input, state, head: reshaped });
  const slotsLater = moves.length + movesLeft;
  const finalState =
    slotsLater === 0 ? state : { ...state, components: keptVersions(state, components) };
  return {
    plan: planReshape({ ...input, state: finalState }, wanted),
    state: finalState,
    slotsLater,
  };
}

/**
 * Throws COMPONENTS_UNFIT when the parents of a merge lie apart here. The component moved them
 * together before it merged them; those moves must come here first.
 */
function requireTogether(head: Ring, wanted: IntervalPartitioner): void {
  const [partedIds] = partedParents(head, reshapingOf(head, wanted));
  if (partedIds === undefined) return;
  const { keyspace } = head;
  const message = `partitions ${partedIds.join(' and ')} are merged, but lie apart in ${keyspace}`;
  throw new CodedError('COMPONENTS_UNFIT', message, {
    hint:
      `split them again in the components; compose ${keyspace} when they lie together there, ` +
      'and again after they are merged',
    details: { ring: keyspace, partitions: partedIds },
  });
}

/**
 * Returns the present device maps with the earlier versions, so that devices removed in a component
 * are removed here too.
 */
function keptVersions(
  { components = [] }: BuilderState,
  before: readonly Component[] | undefined,
): readonly Component[] {
  return components.map((one, at) => {
    const { version, id } = before?.[at] ?? one;
    return { ...one, version, id };
  });
}

/** With `direct`, turns empty removed devices into holes: no server has anything to drain. */
function withoutGone({ head, state, direct }: ComposeFrom, table: Table): BuilderState {
  if (head === null || direct !== true) return state;
  return dropEmptyDevices(state, { ...head, table });
}

function planRows(input: ComposeFrom): Plan {
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
      const [from, to] = [before[replica], row].map((one) => one && deviceIn(one, partition));
      if (to === undefined || from === undefined || from === to) continue;
      moves.push({ partition, replica, from, to });
    }
  }
  return moves;
}
