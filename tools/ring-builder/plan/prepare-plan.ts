// Prepares what a commit would do now: the plan with all its inputs. Used by plan, commit and why.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { moveCount } from '@ringwright/builder/plan/later-waves';
import { wantedIntervals } from '@ringwright/builder/plan/plan-reshape';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { requireNotComposed } from '@ringwright/builder/state/composition';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { sameState } from '@ringwright/builder/state/state-json';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import { stepRamps } from '@ringwright/builder/state/step-ramps';
import { stagedChanges, stagedState } from '@ringwright/repository/folder/builder-file';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Context } from '../cli/command.ts';
import { hoursOf, MS_PER_HOUR } from '../cli/hours.ts';
import { cancelledFindings } from '../versions/cancelled-since.ts';
import { isForSwift, lastPush } from '../versions/last-push.ts';
import { rampFindings, rampRows } from '../versions/ramps.ts';
import { notNotedFindings } from '../versions/waves-left.ts';
import type { PlanToCommit } from './commit-plan.ts';

/**
 * From this many slots on planning takes a second or more and is announced (780,000 took 0.2 s).
 */
const SLOTS_ANNOUNCED_MIN = 3_000_000;

export interface PreparedPlan extends PlanToCommit {
  readonly head: StoredVersion | null;
  /** False if a commit would have nothing to do. */
  readonly changed: boolean;
}

interface Asked {
  readonly direct: boolean;
  readonly stepRamps?: boolean;
}

/** The inputs of the next version, before it is planned. */
export interface PlanInputs {
  readonly opened: OpenedRing;
  readonly head: StoredVersion | null;
  /** Staged changes applied, and the same with the next step of ramps. */
  readonly staged: BuilderState;
  readonly applied: BuilderState;
  /** The head, if nothing new is wanted and its moves in flight come first. */
  readonly running: StoredVersion | null;
}

/** Ramps take a step only if requested. Throws RING_UNKNOWN, PART_POWER_INCREASING. */
export async function readWanted(
  context: Context,
  ring: string,
  { stepRamps: steps = false }: Pick<Asked, 'stepRamps'>,
): Promise<PlanInputs> {
  const opened = await openRing(context.rings, ring);
  requireNotComposed(opened.state);
  requireSteadyPower(opened.state);
  const head = opened.head === null ? null : await readVersion(context.rings, ring, 'head');
  const staged = stagedState(opened);
  const applied = steps ? stepRamps(staged, context.nowMs() / MS_PER_HOUR) : staged;
  const isRunning = head !== null && head.ring.moves.length > 0 && sameState(opened.state, applied);
  return { opened, head, staged, applied, running: isRunning ? head : null };
}

/** Throws what readWanted and planWanted throw, and MOVES_IN_FLIGHT if moves come first. */
export async function preparePlan(
  context: Context,
  ring: string,
  options: Asked & {
    /** Accepts a commit without changes despite moves in flight, because it signs the ring. */
    readonly signs?: boolean;
  },
): Promise<PreparedPlan> {
  const inputs = await readWanted(context, ring, options);
  if (inputs.running !== null && options.signs !== true) throw movesFirst(inputs.running);
  return planWanted(context, inputs, options);
}

/** Throws MOVES_IN_FLIGHT, REPLICAS_EXCEED_DEVICES, VALUE_OUT_OF_RANGE. */
export function planWanted(
  context: Context,
  { opened, head, staged, applied }: PlanInputs,
  options: Asked,
): PreparedPlan {
  const unknown = lastPush(opened.entries) === null;
  const direct = options.direct || unknown;
  // If servers have the ring, they must drain first. A rollout then makes the holes
  // (drop-gone-devices.ts).
  const state = unknown ? dropEmptyDevices(applied, head?.ring ?? null) : applied;
  const slots = partitionCountOf(state.partitioner) * state.replicas;
  if (slots >= SLOTS_ANNOUNCED_MIN) context.tell(`planning ${slots} slots of ${opened.ring} …`);
  const planned = planVersion({
    head: head?.ring ?? null,
    headId: head?.id ?? null,
    state,
    versionHours: hoursOf(opened.entries),
    nowHours: context.nowMs() / MS_PER_HOUR,
    direct,
  });
  const findings = [
    ...rampFindings(rampRows(staged, context.nowMs()), applied, options),
    // For a ring of Swift a change is continued by commits anyway.
    ...(isForSwift(opened.entries) ? [] : laterFindings(head)),
    ...(head !== null && wantedIntervals(head.ring, state) !== null ? reshapedFirst(opened) : []),
    ...notNotedFindings(planned),
    ...cancelledFindings(planned, opened.entries),
  ];
  const plan = { ...planned, warnings: [...planned.warnings, ...findings] };
  const changed = head === null || plan.moves.length > 0 || !sameState(opened.state, applied);
  return { opened, head, state, plan, direct, changed };
}

/**
 * Warns of moves in later waves, which a rollout will no longer make once this plan is committed.
 */
function laterFindings(head: StoredVersion | null): Finding[] {
  const left = head === null ? 0 : moveCount(laterWavesOf(head.extraSections));
  if (head === null || left === 0) return [];
  const which = `${counted(left, 'move')} that version ${head.ring.version} leaves for later waves`;
  const message = `this plan replaces the ${which}`;
  return [{ code: 'LATER_WAVES_REPLACED', message, details: { moves: left } }];
}

const reshapes: ReadonlySet<Change['kind']> = new Set(['split', 'merge', 'retire']);

/** Warns that a split or merge moves nothing else: other staged changes are for a later commit. */
function reshapedFirst({ ring, staged }: OpenedRing): Finding[] {
  const others = stagedChanges(staged).filter(
    (change) =>
      !reshapes.has(change.kind) &&
      (change.kind !== 'set' || change.settings.partitionPower === undefined),
  );
  if (others.length === 0) return [];
  const which = counted(others.length, 'other staged change moves', 'other staged changes move');
  const after = `after the rollout of this one ring-builder plan ${ring} shows what is left`;
  const message = `${which} nothing now: ${after}`;
  return [{ code: 'STAGED_WAITS', message, details: { changes: others.length } }];
}

function movesFirst({ ring: { keyspace, version, moves } }: StoredVersion): CodedError {
  return new CodedError(
    'MOVES_IN_FLIGHT',
    `nothing is staged, and version ${version} of ${keyspace} has ${counted(moves.length, 'move')} in flight`,
    {
      hint: `run ring-builder rollout ${keyspace}`,
      details: { version, moves: moves.length },
    },
  );
}
