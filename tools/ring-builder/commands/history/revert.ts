// ring-builder revert: makes a new version that goes back to an old placement, from where the data
// is now.
import { isDeepStrictEqual } from 'node:util';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Plan } from '@ringwright/builder/plan/plan';
import { revertPlan, revertState } from '@ringwright/builder/plan/revert-plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Staged } from '@ringwright/builder/state/change';
import { requireNotComposed } from '@ringwright/builder/state/composition';
import { sameState } from '@ringwright/builder/state/state-json';
import { requireSteadyPower } from '@ringwright/builder/state/steady-power';
import { laterWavesOf } from '@ringwright/repository/folder/later-section';
import {
  readVersion,
  type StoredVersion,
  stateOf,
} from '@ringwright/repository/folder/read-version';
import { type OpenedRing, openRing } from '@ringwright/repository/open-ring';
import { cancelMoves } from '@ringwright/ring/advance-ring';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';
import { type Answer, type Command, type Context, textOption } from '../../cli/command.ts';
import {
  type CommitArgs,
  commitPlan,
  isReached,
  type PlanToCommit,
  requireCommittable,
} from '../../plan/commit-plan.ts';
import { requireDigest, reviewedPlanOptions } from '../../plan/commit-rules.ts';
import { sizesFor } from '../../plan/known-sizes.ts';
import { requireRoom } from '../../plan/lacking-room.ts';
import { planEffects } from '../../plan/print-plan-effects.ts';
import { reviewedPlan } from '../../plan/reviewed-plan.ts';
import { advanceHead } from '../../versions/advance-head.ts';
import { lastPush } from '../../versions/last-push.ts';
import { versionOf } from '../../versions/version-reference.ts';
import { notNotedFindings } from '../../versions/waves-left.ts';

export const command: Command = {
  positionals: { version: { describe: 'the version to go back to: 7, @~1 or the start of an id' } },
  options: {
    message: textOption('message for the log; without it, show the plan and change nothing', {
      alias: 'm',
    }),
    ...reviewedPlanOptions,
  },
  examples: [
    ['$0 revert cities 7', 'show what it would do; changes nothing'],
    ['$0 revert cities 7 -m "zone 3 was wrong" --plan 3f9c2a7be01d', 'do it'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const { entries, staged } = await openRing(context.rings, ring);
    requireNothingStaged(ring, staged);
    const version = versionOf(ring, entries, args.text('version'));
    const prepared = await prepareRevert(context, ring, version);
    const message = args.optionalText('message');
    const digest = args.optionalText('plan');
    if (!prepared.changed) return nothingToDo(context, prepared);
    if (message === undefined) return showPlan(context, prepared);
    requireDigest(prepared.plan, digest, prepared.opened.head);
    const reason = args.optionalText('overfill') ?? null;
    const planned = toCommit(prepared);
    const devices = requireRoom(planned, await sizesFor(planned), reason);
    return carryOut(context, prepared, {
      message,
      override: args.optionalText('override') ?? null,
      ...(devices.length > 0 && reason !== null && { overfill: { devices, reason } }),
    });
  },
};

function requireNothingStaged(ring: string, staged: readonly Staged[]): void {
  const commands = staged.filter(({ changes }) => changes.length > 0).map(({ command }) => command);
  if (commands.length === 0) return;
  throw new CodedError(
    'STAGED_MOVED',
    `${counted(commands.length, 'staged command')} must be committed or discarded before a revert`,
    {
      hint: `ring-builder commit ${ring} -m TEXT, or ring-builder unstage ${ring}, then revert`,
      details: { ring, staged: commands },
    },
  );
}

async function showPlan(context: Context, prepared: PreparedRevert): Promise<Answer> {
  const { plan, head, old } = prepared;
  const { ring } = plan;
  const inFlight = head.ring.moves.length;
  const inputs = toCommit(prepared);
  const effects = planEffects(inputs, { sizes: await sizesFor(inputs), rate: null });
  const reviewed = await reviewedPlan(context, inputs, effects);
  return {
    json: { ...reviewed.json, to: old.ring.version, cancels: inFlight, changed: true },
    lines: [
      `${ring}: ${isReached(plan) ? 'back' : 'as close as possible'} to the placement of version ` +
        `${old.ring.version}; nothing was changed yet`,
      inFlight > 0 && `first version ${head.ring.version + 1} cancels ${counted(inFlight, 'move')}`,
      'files that were not dropped yet need no copy',
      ...reviewed.lines([]),
    ],
    next: context.next(reviewed.next(`revert ${ring} ${old.ring.version}`)),
  };
}

function nothingToDo(context: Context, { opened, head, old, plan }: PreparedRevert): Answer {
  const { ring } = opened;
  const { version } = old.ring;
  const inFlight = head.ring.moves.length;
  const moveText = `${ring}: ${counted(inFlight, 'move leads', 'moves lead')} there already`;
  return {
    json: { ring, version: head.ring.version, to: version, moved: 0, inFlight, changed: false },
    lines: isReached(plan)
      ? [
          inFlight > 0
            ? moveText
            : `${ring}: placement, weights and settings are those of version ${version}`,
        ]
      : [
          inFlight > 0
            ? `${moveText}, as close to version ${version} as possible`
            : `${ring}: nothing to do; it cannot come closer to version ${version}`,
          ...plan.warnings.map(({ code, message }) => `warning ${code}: ${message}`),
        ],
    next: context.next(`${inFlight > 0 ? 'rollout' : 'status'} ${ring}`),
  };
}

async function carryOut(
  context: Context,
  prepared: PreparedRevert,
  options: CommitArgs,
): Promise<Answer> {
  const { plan, cancelled, old, head } = prepared;
  const revert = old.ring.version;
  const inFlight = head.ring.moves.length;
  let from = toCommit(prepared);
  if (cancelled !== null) {
    await requireCommittable(context, from, options.override);
    const id = await cancelFirst(context, head, cancelled);
    from = { ...from, plan: { ...plan, parent: id }, head: { ring: cancelled, id } };
  }
  const { json, lines, next } = await commitPlan(context, from, {
    ...options,
    revert,
    isTyped: true,
  });
  return {
    json: { ...json, to: revert, cancelled: inFlight },
    lines: [
      cancelled !== null && `version ${cancelled.version}: ${counted(inFlight, 'move')} cancelled`,
      ...lines,
    ],
    next,
  };
}

/**
 * With moves in flight, the plan starts from the version that will cancel them and has no id yet.
 */
function toCommit(prepared: PreparedRevert): PlanToCommit {
  const { head, cancelled } = prepared;
  return { ...prepared, head: { ring: cancelled ?? head.ring, id: head.id } };
}

/**
 * Cancels in a version of its own: if the next step fails, nothing is in flight and revert can be
 * repeated.
 */
async function cancelFirst(context: Context, head: StoredVersion, ring: Ring): Promise<string> {
  const { id } = await advanceHead(context, head, {
    next: ring,
    message: `${counted(head.ring.moves.length, 'move')} cancelled by a revert`,
    state: { ...stateOf(head), partitioner: ring.partitioner },
    figures: { movesLeft: 0 },
    details: { cancelled: [...new Set(head.ring.moves.map(({ partition }) => partition))] },
    later: [],
  });
  return id;
}

interface PreparedRevert {
  readonly opened: OpenedRing;
  readonly head: StoredVersion;
  readonly old: StoredVersion;
  /** The version that cancels the moves in flight; null if there are none. */
  readonly cancelled: Ring | null;
  /** Weights and settings as in the old version. */
  readonly state: BuilderState;
  readonly plan: Plan;
  readonly direct: boolean;
  /** False if everything is as it was, or on its way there. */
  readonly changed: boolean;
}

async function prepareRevert(
  context: Context,
  ring: string,
  version: number,
): Promise<PreparedRevert> {
  const opened = await openRing(context.rings, ring);
  requireNotComposed(opened.state);
  requireSteadyPower(opened.state);
  const head = await readVersion(context.rings, ring, 'head');
  const old = await readVersion(context.rings, ring, version);
  const cancelled = cancelledHead(head);
  const { partitioner } = cancelled ?? head.ring;
  const state = { ...revertState(opened.state, stateOf(old)), partitioner };
  const direct = lastPush(opened.entries) === null;
  const planned = revertPlan({
    head: cancelled ?? head.ring,
    // The head's id even if moves are canceled first: the id of that version is unknown until it is
    // signed.
    headId: head.id,
    state,
    old: old.ring,
    direct,
  });
  const plan = { ...planned, warnings: [...planned.warnings, ...notNotedFindings(planned)] };
  const changed = !sameState(state, opened.state) || !leadsThere(head, planned);
  return { opened, head, old, cancelled, state, plan, direct, changed };
}

/**
 * Whether the moves in flight and the later waves are exactly what the plan would move (often
 * none).
 */
function leadsThere({ ring, extraSections }: StoredVersion, { moves, later }: Plan): boolean {
  const slotsOf = (some: readonly Pick<Move, 'partition' | 'replica' | 'to'>[]): Set<string> =>
    new Set(some.map(({ partition, replica, to }) => `${partition} ${replica} ${to}`));
  const pendingSlots = slotsOf([...ring.moves, ...laterWavesOf(extraSections).flat()]);
  return isDeepStrictEqual(pendingSlots, slotsOf([...moves, ...later.flat()]));
}

function cancelledHead({ ring, id }: StoredVersion): Ring | null {
  if (ring.moves.length === 0) return null;
  return cancelMoves(ring, id, new Set(ring.moves.map(({ assignment }) => assignment)));
}
