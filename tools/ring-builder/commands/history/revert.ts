// ring-builder revert: makes a new version that goes back to an old placement, from where the data
// is now.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { Staged } from '@ringwright/builder/state/change';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import { openRing } from '@ringwright/repository/open-ring';
import type { Ring } from '@ringwright/ring/ring';
import { optionalText, text } from '../../cli/arguments.ts';
import { textOption } from '../../cli/option-forms.ts';
import type { Answer, Context, Verb } from '../../cli/verb.ts';
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
import { stateOf } from '../../versions/state-of-version.ts';
import { versionOf } from '../../versions/version-reference.ts';
import { type PreparedRevert, prepareRevert } from './prepare-revert.ts';

export const verb: Verb = {
  positionals: { version: { describe: 'the version to go back to: 7, @~1 or the start of an id' } },
  options: {
    message: textOption('why, for the log; without it the plan is shown and nothing is done', {
      alias: 'm',
    }),
    ...reviewedPlanOptions,
  },
  examples: [
    ['$0 revert cities 7', 'what it would do; changes nothing'],
    ['$0 revert cities 7 -m "zone 3 was wrong" --plan 3f9c2a7be01d', 'does it'],
  ],
  run: async (args, context) => {
    const ring = text(args, 'ring');
    const { entries, staged } = await openRing(context.rings, ring);
    requireNothingStaged(ring, staged);
    const version = versionOf(ring, entries, text(args, 'version'));
    const prepared = await prepareRevert(context, ring, version);
    const message = optionalText(args, 'message');
    const digest = optionalText(args, 'plan');
    if (!prepared.changed) return nothingToDo(context, prepared);
    if (message === undefined) return showPlan(context, prepared);
    requireDigest(prepared.plan, digest, prepared.opened.head);
    const reason = optionalText(args, 'overfill') ?? null;
    const planned = toCommit(prepared);
    const devices = requireRoom(planned, await sizesFor(planned), reason);
    return carryOut(context, prepared, {
      message,
      override: optionalText(args, 'override') ?? null,
      ...(devices.length > 0 && reason !== null && { overfill: { devices, reason } }),
    });
  },
};

function requireNothingStaged(ring: string, staged: readonly Staged[]): void {
  const commands = staged.filter(({ changes }) => changes.length > 0).map(({ command }) => command);
  if (commands.length === 0) return;
  throw new CodedError(
    'STAGED_MOVED',
    `${counted(commands.length, 'staged command waits', 'staged commands wait')}: a revert has none`,
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
  const wanted = toCommit(prepared);
  const effects = planEffects(wanted, { sizes: await sizesFor(wanted), rate: null });
  const reviewed = await reviewedPlan(context, wanted, effects);
  return {
    json: { ...reviewed.json, to: old.ring.version, cancels: inFlight, changed: true },
    lines: [
      `${ring}: ${isReached(plan) ? 'back' : 'as near as can be'} to the placement of version ` +
        `${old.ring.version}; nothing is done yet`,
      ...(inFlight > 0
        ? [`first version ${head.ring.version + 1} cancels ${counted(inFlight, 'move')}`]
        : []),
      'files that were not given up yet need no copy',
      ...reviewed.lines([]),
    ],
    next: context.next(reviewed.next(`revert ${ring} ${old.ring.version}`)),
  };
}

function nothingToDo(context: Context, { opened, head, old, plan }: PreparedRevert): Answer {
  const { ring } = opened;
  const { version } = old.ring;
  const inFlight = head.ring.moves.length;
  const onTheWay = `${ring}: ${counted(inFlight, 'move leads', 'moves lead')} there already`;
  return {
    json: { ring, version: head.ring.version, to: version, moved: 0, inFlight, changed: false },
    lines: isReached(plan)
      ? [
          inFlight > 0
            ? onTheWay
            : `${ring}: placement, weights and settings are those of version ${version}`,
        ]
      : [
          inFlight > 0
            ? `${onTheWay}, as near to version ${version} as can be`
            : `${ring}: nothing to do; it cannot come nearer to version ${version}`,
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
      ...(cancelled === null
        ? []
        : [`version ${cancelled.version}: ${counted(inFlight, 'move')} cancelled`]),
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
