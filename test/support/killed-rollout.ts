// A rollout that is killed (SIGKILL) the moment something has happened.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Cluster, keyspace } from './cluster.ts';

const program = path.join(import.meta.dirname, '../../tools/ring-builder/launcher.mjs');

interface Kill {
  readonly signal?: NodeJS.Signals;
  /** Further words on its command line. */
  readonly args?: readonly string[];
}

/** Types `ring-builder rollout`, and kills it when `moment` resolves. False when it ended before. */
export function killRolloutAt(
  cluster: Cluster,
  moment: Promise<unknown>,
  { signal = 'SIGKILL', args = [] }: Kill = {},
): Promise<boolean> {
  return killCommandAt(cluster.folder, ['rollout', keyspace, ...args], { moment, signal });
}

/** The same of any command of ring-builder. */
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
