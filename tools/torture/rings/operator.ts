// The operator of a tortured ring: types commands of the real ring-builder, and dies in rollouts.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ended } from '../../../test/support/ring-builder-program.ts';
import { keyspace, type Stage } from '../stage.ts';

const program = path.join(import.meta.dirname, '../../ring-builder/launcher.mjs');
/** Soon enough to be typed again while faults go on. */
const STALL_SECONDS = 5;
/** Nearly everything here is a large change: a device is a fourth of the ring. */
export const override = ['--override', 'the torture wants it'];
/** Only partly done: servers were away, or nothing went on. To be typed again. */
export const AGAIN_EXIT = 4;
/** Moves are paused. */
const PAUSED_EXIT = 6;
/** Faults of one server end sooner. */
const AWAY_MS_MAX = 60_000;
const AGAIN_MS = 250;
/** Whatever the machine does besides; a rollout without faults takes a few seconds. */
const ROLLOUT_MS_MAX = 180_000;

/** A command of ring-builder that runs; disposed of, it is killed and has ended. */
export interface Command extends AsyncDisposable {
  readonly ended: Promise<Ended>;
  /** The way a machine dies. Safe to repeat. */
  readonly kill: () => void;
}

/** When it has ended, by itself or with the run. */
export async function endedWith(signal: AbortSignal, { ended, kill }: Command): Promise<Ended> {
  signal.addEventListener('abort', kill);
  return await ended.finally(() => signal.removeEventListener('abort', kill));
}

/** A command for the ring under torture that must end well. Throws with what it said otherwise. */
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

/** A newcomer proves its key when it is added: typed again while a fault keeps it away. */
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

/** True when all is moved and given up. Throws when it ended as none may, killed or not. */
export function isRolledOut({ exit, stderr }: Ended): boolean {
  if (exit === 0) return true;
  if (exit === AGAIN_EXIT || exit === PAUSED_EXIT || exit === null) return false;
  throw new Error(`rollout ended with ${exit}: ${stderr}`);
}

/** Types `rollout` until it is done. Throws when it is not in this time. */
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
    // Who paused them has resumed them; a joiner that was away then has not heard of it.
    if (ended.exit === PAUSED_EXIT) await stage.builder.run(['moves', keyspace, 'resume', 'all']);
  }
}
