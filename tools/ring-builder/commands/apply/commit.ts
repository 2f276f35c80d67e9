// ring-builder commit: makes the staged changes the next version.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { approvalOf } from '@ringwright/repository/approval';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { readTrust } from '@ringwright/repository/folder/trust-file';
import { openRing } from '@ringwright/repository/open-ring';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { limitsOption, parseLimits, requireLimits } from '../../plan/commit-limits.ts';
import { commitPlan, ringOf } from '../../plan/commit-plan.ts';
import {
  replicasAtOnceOption,
  requireDigest,
  requireProved,
  requireReplicasAtOnce,
  reviewedPlanOptions,
} from '../../plan/commit-rules.ts';
import { sizesFor } from '../../plan/known-sizes.ts';
import { requireRoom } from '../../plan/lacking-room.ts';
import { type PreparedPlan, preparePlan } from '../../plan/prepare-plan.ts';
import { planEffects } from '../../plan/print-plan-effects.ts';
import { requireFilled } from '../../plan/require-filled.ts';
import { requireFitNewcomers } from '../../plan/require-fit-newcomers.ts';
import { requireReaders } from '../../plan/require-readers.ts';
import { lastPush } from '../../versions/last-push.ts';
import { rampRows, stepRampsOption, whyNoStep } from '../../versions/ramps.ts';
import { whenIdle } from '../../versions/staged-in-vain.ts';
import { wavesLeft, wavesLeftLines } from '../../versions/waves-left.ts';

export const command: Command = {
  options: {
    message: textOption('message for the log', { alias: 'm', demandOption: true }),
    direct: flagOption('go straight to the final table, for rings that no server has loaded'),
    'step-ramps': stepRampsOption,
    'max-replicas-at-once': replicasAtOnceOption,
    if: limitsOption,
    ...reviewedPlanOptions,
    unproved: textOption('reason to move partitions again whose last move was forced; logged'),
  },
  examples: [
    ['$0 commit cities -m "zone 3 joins"', 'plan and commit'],
    ['$0 commit cities -m "d3, next step" --step-ramps', 'also take the next step of every ramp'],
    ['$0 commit cities -m "zone 3 joins" --plan 3f9c2a7be01d', 'only if the plan has not changed'],
    [
      '$0 commit cities -m "nightly" --if "moves<=200,bytes<=50GB,risk=0"',
      'within limits, for scripts',
    ],
    [
      '$0 commit cities -m "new racks" --override "ten racks join"',
      'a large change, with a reason instead of a second signature',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const direct = args.flag('direct');
    const limits = parseLimits(args.optionalText('if'));
    const signs = await isFirstSigned(context, ring);
    const stepRamps = args.flag('step-ramps');
    const prepared = await preparePlan(context, ring, { direct, stepRamps, signs });
    requireDigest(prepared.plan, args.optionalText('plan'), prepared.opened.head);
    requireReplicasAtOnce(prepared.plan, args.optionalNumber('max-replicas-at-once'));
    if (!prepared.changed && !signs) return nothingToDo(context, prepared, { stepRamps });
    if (direct && !context.yes) requireUnpushed(ring, prepared);
    const sizes = await sizesFor(prepared);
    if (!context.yes) {
      requireFitNewcomers(prepared, sizes);
      requireReaders(prepared, sizes);
      requireFilled(prepared, sizes);
    }
    if (limits.length > 0) {
      requireLimits(prepared, planEffects(prepared, { sizes, rate: null }), limits);
    }
    const override = args.optionalText('override') ?? null;
    const reason = args.optionalText('unproved') ?? null;
    const partitions = requireProved(prepared.plan, prepared.opened.entries, reason);
    const overfill = args.optionalText('overfill') ?? null;
    const lacking = requireRoom(prepared, sizes, overfill);
    const inputs = { ...prepared, state: stateToCommit(prepared) };
    const { json, lines, next } = await commitPlan(context, inputs, {
      ...{ message: args.text('message'), override },
      ...(lacking.length > 0 &&
        overfill !== null && { overfill: { devices: lacking, reason: overfill } }),
      ...(partitions.length > 0 && reason !== null && { unproved: { partitions, reason } }),
    });
    const { warnings } = prepared.plan;
    const warningLines = warnings.map(({ code, message }) => `warning ${code}: ${message}`);
    return { json, lines: [...warningLines, ...lines], next };
  },
};

/**
 * If no server has the ring, a device that this version empties leaves the ring at once, as a hole.
 * Otherwise its server must drain first, and a rollout makes the hole.
 */
function stateToCommit(prepared: PreparedPlan): BuilderState {
  const { state, opened } = prepared;
  return lastPush(opened.entries) === null ? dropEmptyDevices(state, ringOf(prepared)) : state;
}

/**
 * The first commit after signing was turned on, or the epoch was raised, creates a signed version
 * even if nothing is staged.
 */
async function isFirstSigned({ rings }: Context, ring: string): Promise<boolean> {
  const trust = await readTrust(rings);
  if (trust === null || (await openRing(rings, ring)).head === null) return false;
  return !approvalOf(await readVersion(rings, ring, 'head'), trust.trust).signed;
}

function nothingToDo(
  context: Context,
  { opened, head: stored, direct, state }: PreparedPlan,
  { stepRamps }: { readonly stepRamps: boolean },
): Answer {
  const { ring, head, entries } = opened;
  const left = stored === null ? null : wavesLeft(stored, entries, context.nowMs());
  const idle = whenIdle(opened);
  return {
    json: {
      ring,
      version: head?.version ?? null,
      id: head?.id ?? null,
      moved: 0,
      moveLowerBound: 0,
      movesLeft: left?.movesLeft ?? 0,
      direct,
      changed: false,
    },
    lines: [
      `${ring}: nothing to do; the head stays version ${head?.version}`,
      ...idle.lines,
      ...(left === null ? [] : wavesLeftLines(ring, left)),
      ...(stepRamps ? whyNoStep(ring, rampRows(state, context.nowMs())) : []),
    ],
    next: context.next(idle.next),
  };
}

/**
 * Throws CONFIRMATION_NEEDED if servers have the ring: --direct would assign them partitions
 * without copying the data.
 */
function requireUnpushed(ring: string, { opened }: PreparedPlan): void {
  const pushed = lastPush(opened.entries)?.version;
  if (pushed === undefined) return;
  throw new CodedError(
    'CONFIRMATION_NEEDED',
    `version ${pushed} of ${ring} was pushed to servers, and --direct would not move their data`,
    {
      hint: 'omit --direct, or add --yes if the servers hold no data',
      details: { ring, pushed },
    },
  );
}
