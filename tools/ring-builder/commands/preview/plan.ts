// ring-builder plan: shows what a commit would do, without changing anything.
import { counted } from '@ringwright/base/counted';
import type { Plan } from '@ringwright/builder/plan/plan';
import type { StoredVersion } from '@ringwright/repository/folder/read-version';
import {
  type Answer,
  type Command,
  type Context,
  flagOption,
  textOption,
} from '../../cli/command.ts';
import { parseBytes, printBytes } from '../../cli/print-bytes.ts';
import { limitsOption, parseLimits, requireLimits } from '../../plan/commit-limits.ts';
import { replicasAtOnceOption, requireReplicasAtOnce } from '../../plan/commit-rules.ts';
import { type ReportedSizes, sizesFor } from '../../plan/known-sizes.ts';
import { type PlanInputs, planWanted, readWanted } from '../../plan/prepare-plan.ts';
import { printMoves } from '../../plan/print-moves.ts';
import { planEffects } from '../../plan/print-plan-effects.ts';
import { requireFilled } from '../../plan/require-filled.ts';
import { requireFitNewcomers } from '../../plan/require-fit-newcomers.ts';
import { requireReaders } from '../../plan/require-readers.ts';
import { reviewedPlan } from '../../plan/reviewed-plan.ts';
import { rampRows, stepRampsOption, whyNoStep } from '../../versions/ramps.ts';
import { whenIdle } from '../../versions/staged-in-vain.ts';
import { wavesLeft, wavesLeftLines } from '../../versions/waves-left.ts';
import { bytesAtOnce, bytesOf, maxBytesOption } from '../apply/ask-copy-limits.ts';
import { COPY_STEPS_MAX, type CopyStep, copySteps } from '../apply/rollout-step.ts';

export const command: Command = {
  options: {
    direct: flagOption('plan as for commit --direct'),
    offline: flagOption('do not ask servers for sizes'),
    partitions: flagOption('list each move: partition, replica, from and to'),
    'step-ramps': stepRampsOption,
    'max-replicas-at-once': replicasAtOnceOption,
    if: limitsOption,
    'max-bytes': maxBytesOption,
    rate: textOption('estimate the time at this rate of each device, such as 50MB/s'),
  },
  examples: [
    ['$0 plan cities', 'moves per device and tier, risks, warnings, and the digest for commit'],
    ['$0 plan cities --partitions', 'the same, with every slot that moves'],
    ['$0 plan cities --rate 50MB/s', 'the same, with how long the copies take'],
    [
      '$0 plan cities --max-bytes 2GiB',
      'the same, with the number of copy steps of such a rollout',
    ],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const limits = parseLimits(args.optionalText('if'));
    const planOptions = { direct: args.flag('direct'), stepRamps: args.flag('step-ramps') };
    const inputs = await readWanted(context, ring, planOptions);
    if (inputs.running !== null) return runningAnswer(context, inputs.running, inputs);
    const prepared = planWanted(context, inputs, planOptions);
    requireReplicasAtOnce(prepared.plan, args.optionalNumber('max-replicas-at-once'));
    const { state, changed, direct } = prepared;
    const sizes = args.flag('offline') ? null : await sizesFor(prepared);
    if (!context.yes) {
      requireFitNewcomers(prepared, sizes);
      requireReaders(prepared, sizes);
      requireFilled(prepared, sizes);
    }
    const typedRate = args.optionalText('rate');
    const rate = typedRate === undefined ? null : parseBytes(typedRate, '--rate');
    const effects = planEffects(prepared, { sizes, rate });
    const steps = stepsOf(prepared.plan, sizes, bytesAtOnce(args));
    requireLimits(prepared, effects, limits);
    const options = ['direct', 'step-ramps']
      .map((name) => (args.flag(name) ? ` --${name}` : ''))
      .join('');
    const reviewed = await reviewedPlan(context, prepared, effects);
    const moves = args.flag('partitions') ? printMoves(prepared.plan, state) : [];
    const idle = whenIdle(prepared.opened);
    return {
      json: { ...reviewed.json, direct, changed, steps },
      lines: changed
        ? reviewed.lines([...stepLines(steps), ...moves])
        : [
            `${ring}: there is nothing to commit`,
            ...idle.lines,
            ...(planOptions.stepRamps ? whyNoStep(ring, rampRows(state, context.nowMs())) : []),
          ],
      next: context.next(changed ? reviewed.next(`commit ${ring}`, options) : idle.next),
    };
  },
};

/** Returns null if bytes are not limited or no server reported sizes. */
function stepsOf(
  plan: Plan,
  sizes: ReportedSizes | null,
  bytes: number,
): readonly CopyStep[] | null {
  if (sizes === null || bytes === Number.POSITIVE_INFINITY) return null;
  const limits = { moves: Number.POSITIVE_INFINITY, bytes, bytesOf: bytesOf(sizes, bytes) };
  return copySteps([plan.moves, ...plan.later], limits);
}

function stepLines(steps: readonly CopyStep[] | null): string[] {
  if (steps === null || steps.length === 0) return [];
  const largestStep = Math.max(...steps.map(({ bytes }) => bytes));
  const count = steps.length < COPY_STEPS_MAX ? counted(steps.length, 'step') : 'very many steps';
  return [`copies in ${count}, at most ${printBytes(largestStep)} at once`];
}

/**
 * Answers when nothing is staged and moves are in flight. This is no error: a rollout completes
 * them, and there is nothing to commit.
 */
function runningAnswer(context: Context, head: StoredVersion, { opened }: PlanInputs): Answer {
  const { keyspace: ring, version, moves } = head.ring;
  const left = wavesLeft(head, opened.entries, context.nowMs());
  const { movesLeft, movesNotNoted } = left;
  const inFlight = moves.length;
  return {
    json: { ring, version, moved: 0, inFlight, movesLeft, movesNotNoted, changed: false },
    lines: [
      `${ring}: nothing is staged; version ${version} has ${counted(inFlight, 'move')} in flight`,
      ...wavesLeftLines(ring, left),
    ],
    next: context.next(`rollout ${ring}`),
  };
}
