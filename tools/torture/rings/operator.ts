// The operator of a tortured ring: runs commands of the real ring-builder, and dies in rollouts.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ended } from '../../../test/support/ring-builder-program.ts';
import { keyspace, type Stage } from '../stage.ts';

const program = path.join(import.meta.dirname, '../../ring-builder/launcher.mjs');
/** Short enough to run the rollout again while faults go on. */
const STALL_SECONDS = 5;
/** Nearly every change here is a large one: a device is a fourth of the ring. */
export const override = ['--override', 'the torture wants it'];
/** Exit code: only partly done, because servers were away or nothing progressed. Run again. */
export const AGAIN_EXIT = 4;
/** Exit code: moves are paused. */
const PAUSED_EXIT = 6;
/** Longer than any fault of one server. */
const AWAY_MS_MAX = 60_000;
const AGAIN_MS = 250;
/** Sufficient on any busy machine; a rollout without faults takes a few seconds. */
const ROLLOUT_MS_MAX = 180_000;

/** A running ring-builder command. Disposing of it kills it and waits for its end. */
export interface Command extends AsyncDisposable {
  readonly ended: Promise<Ended>;
  /** Kills the command as a machine failure would. Idempotent. */
  readonly kill: () => void;
}

/** Resolves when the command has ended, by itself or because the run ended. */
export async function endedWith(signal: AbortSignal, { ended, kill }: Command): Promise<Ended> {
  signal.addEventListener('abort', kill);
  return await ended.finally(() => signal.removeEventListener('abort', kill));
}

/** Runs a command for the tortured ring. Throws with its output unless it succeeds. */
export function type(stage: Stage, verb: string, ...args: string[]): Promise<void> {
  return typeFor(stage, keyspace, [verb, ...args]);
}

/** The same for any ring. */
export async function typeFor(
  stage: Stage,
  ring: string,
  [verb = '', ...args]: readonly string[],
): Promise<void> {
  // Wrong clocks are among the faults.
  const added = verb === 'add' ? [...stage.addOptions, '--yes'] : [];
  const words = [verb, ring, ...args, ...added, '--json'];
  const { exit, stderr } = await endedOnceReached(stage, words);
  if (exit !== 0) throw new Error(`${verb} ${args.join(' ')} ended with ${exit}: ${stderr}`);
}

/** An added device must prove its key. Repeats the command while a fault makes it unreachable. */
async function endedOnceReached(stage: Stage, words: readonly string[]): Promise<Ended> {
  const deadline = performance.now() + AWAY_MS_MAX;
  for (;;) {
    const ended = await stage.builder.run(words);
    const isAway = ended.exit === AGAIN_EXIT && ended.stderr.includes('PEER_UNREACHABLE');
    if (!isAway || performance.now() > deadline) return ended;
    await delay(AGAIN_MS);
  }
}

export function startRollout(stage: Stage, options: readonly string[] = []): Command {
  const stall = ['--stall-timeout', String(STALL_SECONDS)];
  return startCommand(stage, ['rollout', keyspace, '--json', ...stall, ...override, ...options]);
}

export function startCommand(
  stage: Stage,
  args: readonly string[],
  { options, environment } = stage.operatorNode(),
): Command {
  const child = spawn(process.execPath, [...options, program, ...args], {
    cwd: stage.shape.folder,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const ended = Promise.all([exited, text(child.stdout), text(child.stderr)]).then(
    ([exit, stdout, stderr]) => {
      process.off('exit', kill);
      return { exit, stdout, stderr };
    },
  );
  const dispose = async (): Promise<void> => {
    kill();
    await ended;
  };
  return { ended, kill, [Symbol.asyncDispose]: dispose };
}

/** Returns true when all moves are complete and drained. Throws for an unexpected exit code. */
export function isRolledOut({ exit, stderr }: Ended): boolean {
  if (exit === 0) return true;
  if (exit === AGAIN_EXIT || exit === PAUSED_EXIT || exit === null) return false;
  throw new Error(`rollout ended with ${exit}: ${stderr}`);
}

/** Runs `rollout` until it is complete. Throws when that takes longer than `withinMs`. */
export async function rollOut(
  stage: Stage,
  { withinMs = ROLLOUT_MS_MAX, options = [] as readonly string[] } = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const ended = await startRollout(stage, options).ended;
    if (isRolledOut(ended)) return;
    if (performance.now() > deadline) {
      throw new Error(`no end of a rollout: ${ended.stdout}${ended.stderr}`);
    }
    // The fault that paused the moves has resumed them, but a joiner that was down then does not
    // know.
    if (ended.exit === PAUSED_EXIT) await stage.builder.run(['moves', keyspace, 'resume', 'all']);
  }
}
