// rollout --follow: takes the next step of every ramp after the step before has ended and all is
// well.
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { openRing } from '@ringwright/repository/open-ring';
import { stagedCommands } from '@ringwright/repository/stage-changes';
import { Arguments } from '../../cli/arguments.ts';
import { type Answer, type Context, linesOf } from '../../cli/command.ts';
import { checkRings } from '../../health/check-rings.ts';
import { byWeight, exitOf, type Trouble, type TroubleKind } from '../../health/trouble.ts';
import { waitUntil } from '../../servers/wait-until.ts';
import type { RampRow } from '../../versions/ramps.ts';
import { command as commit } from './commit.ts';

export interface LeftToFollow {
  readonly ramps: readonly RampRow[];
  /** ISO 8601: the end of the rest of partitions that must move again; null if none rests. */
  readonly restsUntil: string | null;
}

export interface RolledOut {
  readonly answer: Answer;
  /** Null if the rollout stopped before its end. */
  readonly left: LeftToFollow | null;
}

interface RampPorts {
  readonly nowMs: () => number;
  readonly rollOut: () => Promise<RolledOut>;
  /**
   * Returns the ring's troubles, after waiting for those that block a step to end; empty: all is
   * well.
   */
  readonly troubles: () => Promise<readonly Trouble[]>;
  /** Commits the next step. Resolves to false if there was nothing to commit. */
  readonly takeStep: () => Promise<boolean>;
  readonly waitUntil: (ms: number) => Promise<void>;
  readonly tell: (line: string) => void;
}

interface Followed {
  /** The last rollout. */
  readonly ended: RolledOut;
  /** The number of steps taken. */
  readonly steps: number;
  /** Why the next step was not taken; empty if none is left. */
  readonly troubles: readonly Trouble[];
  /** Troubles at the last check that do not block a step. */
  readonly beside: readonly Trouble[];
}

/** Troubles that do not block a step: they concern access and expiry dates, not moves. */
const besideMoves: ReadonlySet<TroubleKind> = new Set<TroubleKind>([
  ...(['unprotected', 'trust behind', 'trust ends', 'certificate ends'] as const),
]);

/** Time for a server to recover after a takeover or a restart. */
const RECOVERY_MS = 60_000;
const LOOK_MS = 1_000;

export async function followRollout(
  context: Context,
  { ring, override }: { readonly ring: string; readonly override: string | null },
  rollOut: () => Promise<RolledOut>,
): Promise<Answer> {
  const { ended, steps, troubles, beside } = await followRamps({
    nowMs: context.nowMs,
    rollOut,
    troubles: () => lastingTroubles(context, ring),
    takeStep: () => takeStep(context, { ring, ...(override !== null && { override }) }),
    waitUntil: (ms) => sleepUntil(context, ring, ms),
    tell: (line) => context.tell(`${ring}: ${line}`),
  });
  const { answer } = ended;
  const stepsLine = `${counted(steps, 'step')} of ramps taken`;
  const followed = {
    ...answer,
    json: { ...(answer.json as object), steps, beside },
    lines: [...answer.lines, stepsLine, ...beside.map(lineOf)],
  };
  const [worst] = byWeight(troubles);
  if (worst === undefined) return followed;
  const why = `stopped taking steps because of ${worst.kind}: ${worst.why}`;
  return {
    ...followed,
    json: { ...followed.json, troubles },
    lines: [...followed.lines, why],
    next: context.next(worst.command),
    exit: exitOf(troubles),
  };
}

/**
 * Runs rollouts and ramp steps in turn. If the process is killed, the next start continues the
 * rollout of the last committed step.
 */
export async function followRamps(ports: RampPorts): Promise<Followed> {
  let beside: readonly Trouble[] = [];
  for (let steps = 0; ; steps += 1) {
    const ended = await ports.rollOut();
    const nextMs = ended.left === null ? null : nextStepMs(ended.left);
    if (nextMs === null) return { ended, steps, troubles: [], beside };
    if (nextMs > ports.nowMs()) await ports.waitUntil(nextMs);
    const found = await ports.troubles();
    const troubles = found.filter(holdsUp);
    beside = found.filter((one) => !holdsUp(one));
    if (troubles.length > 0) return { ended, steps, troubles, beside };
    for (const one of beside) ports.tell(lineOf(one));
    if (!(await ports.takeStep())) return { ended, steps, troubles: [], beside };
  }
}

function holdsUp({ kind }: Trouble): boolean {
  return !besideMoves.has(kind);
}

function lineOf({ kind, address, why, command }: Trouble): string {
  return `${kind}${address === null ? '' : ` at ${address}`}: ${why}; ring-builder ${command}`;
}

/** Returns when the next step is due; null if no ramp continues. */
function nextStepMs({ ramps, restsUntil }: LeftToFollow): number | null {
  const startsMs = ramps
    .filter(({ phase }) => phase === 'before' || phase === 'due')
    .map(({ phase, from }) => (phase === 'due' ? 0 : Date.parse(from)));
  if (startsMs.length === 0) return null;
  return Math.max(Math.min(...startsMs), restsUntil === null ? 0 : Date.parse(restsUntil));
}

async function lastingTroubles(context: Context, ring: string): Promise<readonly Trouble[]> {
  const { answer } = await waitUntil({
    ask: async () => (await checkRings(context, [ring])).flatMap(({ troubles }) => troubles),
    isDone: (troubles) => !troubles.some(holdsUp),
    progressOf: (troubles) =>
      troubles
        .filter(holdsUp)
        .map(({ kind }) => kind)
        .join(', '),
    stallMs: RECOVERY_MS,
    nowMs: context.nowMs,
    tell: (progress) => context.tell(`${ring}: the next step is waiting: ${progress}`),
  });
  return answer;
}

async function takeStep(
  context: Context,
  args: { readonly ring: string; readonly override?: string },
): Promise<boolean> {
  await requireNothingStaged(context, args.ring);
  const message = 'the next step of its ramps (rollout --follow)';
  const typed = { ...args, message, 'step-ramps': true };
  const { json, lines } = await commit.run(new Arguments(typed), context);
  for (const line of linesOf(lines)) context.tell(line);
  return (json as { readonly changed: boolean }).changed;
}

/**
 * A commit takes all that is staged, and nobody has reviewed what was staged during the rollout.
 * Throws STAGED_MOVED.
 */
async function requireNothingStaged({ rings }: Context, ring: string): Promise<void> {
  const commands = stagedCommands((await openRing(rings, ring)).staged).map((one) => one.command);
  if (commands.length === 0) return;
  const staged = counted(commands.length, 'staged command is', 'staged commands are');
  throw new CodedError('STAGED_MOVED', `${staged} not part of the next step of a ramp`, {
    hint:
      `ring-builder commit ${ring} -m TEXT, or ring-builder unstage ${ring}, then ring-builder ` +
      `rollout ${ring} --follow continues`,
    details: { ring, staged: commands },
  });
}

async function sleepUntil(context: Context, ring: string, ms: number): Promise<void> {
  const dueTime = `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  context.tell(`${ring}: the next step is due at ${dueTime}`);
  while (context.nowMs() < ms) await delay(Math.min(LOOK_MS, ms - context.nowMs()));
}
