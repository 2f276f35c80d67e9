// The plan of a version that splits and merges partitions. Nothing crosses the network: children
// join the devices of their parents, and balance moves them in a later version. Pure.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { movesInFlightMax } from '@ringwright/base/limits';
import { asIntervals } from '@ringwright/ring/partitioner/as-intervals';
import { intervalOf, intervalText } from '@ringwright/ring/partitioner/intervals-of';
import { liveIds } from '@ringwright/ring/partitioner/live-ids';
import { type IntervalPartitioner, isIntervals } from '@ringwright/ring/partitioner/partitioner';
import { samePartitioner } from '@ringwright/ring/partitioner/partitioner-settings';
import { type ReshapeMapping, reshapeMapping } from '@ringwright/ring/partitioner/reshape';
import { beginReshape, finishReshape, partedParents } from '@ringwright/ring/reshape-ring';
import { deviceIn, type Ring } from '@ringwright/ring/ring';
import { placementProblem } from '../placement/placement-problem.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { unfit } from '../state/reshaped-by.ts';
import { denseHead } from './dense-head.ts';
import { filledPlan } from './filled-plan.ts';
import type { Plan, PlanBasis } from './plan.ts';
import { devicePlans } from './plan-devices.ts';

/** Returns the intervals that replace the head's intervals; null when those stay. */
export function wantedIntervals(head: Ring, { partitioner }: BuilderState) {
  if (!isIntervals(partitioner) || samePartitioner(head.partitioner, partitioner)) return null;
  return partitioner;
}

export function reshapingOf({ partitioner }: Ring, wanted: IntervalPartitioner): ReshapeMapping {
  return reshapeMapping(
    must(asIntervals(partitioner), `${partitioner.kind} has no intervals`),
    wanted,
  );
}

/** Returns the partitions of the head that are retired, wholly or in part, with their records. */
export function givenUpBy(head: Ring, state: BuilderState): number[] {
  const wanted = wantedIntervals(head, state);
  if (wanted === null) return [];
  const { parents, emptied } = reshapingOf(head, wanted);
  return [...new Set([...emptied].flatMap((child) => parents.get(child) ?? []))];
}

/** Throws RESHAPE_UNFIT for a ring without a version, when a split or merge is staged. */
export function requireUnsplit(state: BuilderState): void {
  if (liveIds(state.partitioner) === null) return;
  throw unfit(state, 'it has no version yet', {
    hint: `ring-builder unstage ${state.ring}, then commit it, or create it with these boundaries`,
    details: {},
  });
}

type ReshapeInput = PlanBasis & { readonly head: Ring };

/** Throws MOVES_IN_FLIGHT, MERGE_APART with the command to run first, RESHAPE_UNFIT. */
export function planReshape(input: ReshapeInput, wanted: IntervalPartitioner): Plan {
  const { head, headId, state } = input;
  requireFit(input, wanted);
  const step = beginReshape({ ...head, devices: state.devices }, wanted);
  const moves = step.moves.map(({ partition, replica, from, to }) => {
    return { partition, replica, from, to };
  });
  const reshapedRing = { ...head, ...finishReshape({ ...head, ...step }) };
  const { table: target } = reshapedRing;
  const shares = denseHead(reshapedRing, state)?.state ?? state;
  return filledPlan(
    { head, headId, state },
    {
      target,
      moves,
      optimum: { moves: moves.length, proof: 'bound' },
      devices: devicePlans(state, placementProblem(shares), { head, target, moves }),
      warnings: reshapeFindings(head, wanted),
    },
  );
}

const findingsMax = 20;

/** Returns one finding per child: its interval and its parents. */
function reshapeFindings(head: Ring, wanted: IntervalPartitioner): Finding[] {
  const { parents: all, emptied } = reshapingOf(head, wanted);
  const parents = [...all];
  const findings = parents.slice(0, findingsMax).map(([child, ids]): Finding => {
    const interval = intervalOf(wanted, child);
    const within = interval === null ? '' : ` ${intervalText(interval)}`;
    const holderText = `${ids.join(', ')} ${ids.length === 1 ? 'holds' : 'hold'}`;
    const message = emptied.has(child)
      ? `partition ${child}${within} begins empty: what ${holderText} is moved to the trash`
      : `partition ${child}${within} takes over keys of ${ids.join(' and ')}, on the same devices`;
    return { code: 'PARTITION_RESHAPED', message, details: { child, parents: ids } };
  });
  if (parents.length <= findingsMax) return findings;
  const otherCount = parents.length - findingsMax;
  const countText = counted(otherCount, 'more partition is', 'more partitions are');
  const summary = `${countText} made in the same way`;
  return [...findings, { code: 'PARTITION_RESHAPED', message: summary }];
}

function requireFit(
  { head, state, direct = false }: ReshapeInput,
  wanted: IntervalPartitioner,
): void {
  const { keyspace, version, moves } = head;
  if (moves.length > 0) {
    const what = `version ${version} of ${keyspace} has ${counted(moves.length, 'move')} in flight`;
    const message = `${what}: a split or merge cannot be combined with moves`;
    throw new CodedError('MOVES_IN_FLIGHT', message, {
      hint: `run ring-builder rollout ${keyspace}, or ring-builder moves ${keyspace} cancel all`,
      details: { version, moves: moves.length },
    });
  }
  requireSameReplicas(head, state);
  const mapping = reshapingOf(head, wanted);
  const slots = mapping.parents.size * head.table.length;
  if (slots > movesInFlightMax && !direct) {
    throw unfit(
      state,
      `${slots} slots of children, but a version can have at most ${movesInFlightMax}`,
      {
        hint: `split fewer partitions at once; or use commit ${keyspace} --direct if no server has the ring`,
        details: { slots, movesInFlightMax },
      },
    );
  }
  const [partedIds] = partedParents(head, mapping);
  if (partedIds !== undefined) throw apartError(head, partedIds);
}

/**
 * Throws RESHAPE_UNFIT when a child has the whole interval of one parent, with its records: the
 * staged splits and merges cancel each other, and servers would build a new file for nothing.
 */
export function requireNewIntervals(
  head: Ring,
  state: BuilderState,
  wanted: IntervalPartitioner,
): void {
  const { parents, emptied } = reshapingOf(head, wanted);
  const children = new Map<number, number>();
  for (const ids of parents.values())
    for (const id of ids) children.set(id, (children.get(id) ?? 0) + 1);
  const same = [...parents].filter(([child, [parent = -1, ...others]]) => {
    return others.length === 0 && children.get(parent) === 1 && !emptied.has(child);
  });
  const [first] = same;
  if (first === undefined) return;
  const [child, [parent]] = first;
  const all = counted(same.length, 'partition');
  const what = `${all} would be built again with the same interval, such as ${parent}`;
  throw unfit(state, what, {
    hint: `ring-builder unstage ${state.ring}, then stage only the change that is wanted`,
    details: { partitions: same.length, parent, child },
  });
}

/** Throws RESHAPE_UNFIT when the number of replicas changes too. */
export function requireSameReplicas(head: Ring, state: BuilderState): void {
  const { keyspace, replicas } = head;
  if (state.replicas === replicas) return;
  const set = `ring-builder set ${keyspace} --replicas`;
  const anew = `ring-builder unstage ${keyspace}, ${set} ${state.replicas}`;
  const changeFirstHint = `${anew}, commit and rollout first`;
  const keepHint = `${set} ${replicas} keeps them`;
  throw unfit(state, `${replicas} replicas are to become ${state.replicas}`, {
    hint: `do one after the other: ${Number.isInteger(replicas) ? keepHint : changeFirstHint}`,
    details: { before: replicas, after: state.replicas },
  });
}

/** Names the devices of each parent, and the merge command that stages the moves needed first. */
export function apartError({ keyspace, table }: Ring, ids: readonly number[]): CodedError {
  const deviceRows = ids.map((id) => table.map((row) => deviceIn(row, id) ?? -1));
  const named = deviceRows.map((devices) => devices.map((device) => `d${device}`).join(' '));
  const [first = '', ...others] = named;
  const [one, other = one] = ids;
  const locations = `partition ${one} is on ${first}, ${other} on ${others.join(' and ')}`;
  const message = `${locations}: they must be on the same devices`;
  return new CodedError('MERGE_APART', message, {
    hint:
      `ring-builder unstage ${keyspace}, then ring-builder merge ${keyspace} ${one} ${other}: ` +
      'it stages the moves that come first',
    details: { partitions: ids, devices: deviceRows },
  });
}
