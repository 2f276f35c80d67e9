// Starts a program for a measurement, waits until it answers, and ends it with this process.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import { waitFor } from '@ringwright/node/wait-for';

const UP_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;

interface ProgramToStart {
  readonly file: string;
  readonly args: readonly string[];
  /** File for its output. */
  readonly logFile: string;
  /** Returns true once the program answers. */
  readonly isUp: () => Promise<boolean>;
}

export interface StartedProgram {
  readonly pid: number;
  /** Asks the program to end, and kills it when it does not. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(130));
}

/** Resolves when it is up. Rejects with the last lines of its log when it ends before. */
export async function startProgram(program: ProgramToStart): Promise<StartedProgram> {
  const { file, args, logFile, isUp } = program;
  const log = fs.openSync(logFile, 'a');
  const child = spawn(file, [...args], { stdio: ['ignore', log, log] });
  fs.closeSync(log);
  running.add(child);
  const exited = new Promise<void>((resolve) => {
    for (const event of ['close', 'error'] as const) child.once(event, () => resolve());
  });
  void exited.then(() => running.delete(child));
  const failure = (): Error => {
    const last = fs.readFileSync(logFile, 'utf8').trim().split('\n').slice(-5).join('\n');
    return new Error(`${file} ${args.join(' ')} does not come up: ${last}`);
  };
  const ask = async (): Promise<boolean> => !running.has(child) || isUp();
  await waitFor('a program', { ask, until: Boolean, deadlineMs: UP_MS_MAX, failure });
  if (!running.has(child)) throw failure();
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    child.kill(signal);
    const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(killTimer);
  };
  return { pid: child.pid ?? 0, stop };
}
