// Kills a rollout (SIGKILL) the moment something has happened.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Cluster, keyspace } from './cluster.ts';

const program = path.join(import.meta.dirname, '../../tools/ring-builder/launcher.mjs');

interface Kill {
  readonly signal?: NodeJS.Signals;
  /** Additional words on its command line. */
  readonly args?: readonly string[];
}

/** Runs `ring-builder rollout` until `moment` resolves, then kills it. False if it ended before. */
export function killRolloutAt(
  cluster: Cluster,
  moment: Promise<unknown>,
  { signal = 'SIGKILL', args = [] }: Kill = {},
): Promise<boolean> {
  return killCommandAt(cluster.folder, ['rollout', keyspace, ...args], { moment, signal });
}

/** Does the same for any command of ring-builder. */
export async function killCommandAt(
  folder: string,
  args: readonly string[],
  { moment, signal }: { readonly moment: Promise<unknown>; readonly signal: NodeJS.Signals },
): Promise<boolean> {
  const tool = spawn(process.execPath, [program, ...args], { cwd: folder, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => tool.once('close', () => resolve()));
  await Promise.race([moment, ended]);
  const wasRunning = tool.exitCode === null;
  tool.kill(signal);
  await ended;
  return wasRunning;
}
