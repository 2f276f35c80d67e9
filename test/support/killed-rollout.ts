// A rollout that is killed (SIGKILL) the moment something has happened.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { type Cluster, keyspace } from './cluster.ts';

const program = path.join(import.meta.dirname, '../../tools/ring-builder/launcher.mjs');

/** Types `ring-builder rollout`, and kills it when `moment` resolves. False when it ended before. */
export async function killRolloutAt(cluster: Cluster, moment: Promise<unknown>): Promise<boolean> {
  const tool = spawn(process.execPath, [program, 'rollout', keyspace], {
    cwd: cluster.folder,
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => tool.once('close', () => resolve()));
  await Promise.race([moment, ended]);
  const wasRunning = tool.exitCode === null;
  tool.kill('SIGKILL');
  await ended;
  return wasRunning;
}
