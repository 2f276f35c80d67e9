// Runs the real ring-builder program in a scratch folder.
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const program = join(import.meta.dirname, '../../tools/ring-builder/launcher.mjs');

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RingBuilder {
  readonly folder: string;
  /** Words split at blanks, or given one by one. */
  readonly run: (typed: string | readonly string[], stdin?: string) => Promise<Ended>;
  /** The JSON document of a command, however it ended, unless it failed. */
  readonly answer: <T = Record<string, unknown>>(
    typed: string | readonly string[],
  ) => Promise<{ readonly exit: number | null; readonly document: T }>;
  /** The JSON document of a command that must end with 0; the caller says what is in it. */
  readonly json: <T = Record<string, unknown>>(typed: string | readonly string[]) => Promise<T>;
}

/** What Node itself is started with, besides the usual. */
export interface NodeShape {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export async function ringBuilderIn(folder?: string, node?: NodeShape): Promise<RingBuilder> {
  const cwd = folder ?? (await mkdtemp(join(tmpdir(), 'ring-builder-')));
  const run = async (typed: string | readonly string[], stdin = ''): Promise<Ended> => {
    const args = typeof typed === 'string' ? typed.split(' ') : typed;
    const env = { ...process.env, ...node?.environment };
    const child = spawn(process.execPath, [...(node?.options ?? []), program, ...args], {
      cwd,
      env,
    });
    const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.end(stdin);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { exit: await exited, stdout, stderr };
  };
  const answer = async <T>(typed: string | readonly string[]) => {
    const args = typeof typed === 'string' ? typed.split(' ') : typed;
    const { exit, stdout, stderr } = await run(['--json', ...args]);
    if (stdout !== '') return { exit, document: JSON.parse(stdout) as T, stderr };
    throw new Error(`ring-builder ${args.join(' ')} ended with ${exit}: ${stderr}`);
  };
  const json = async <T>(typed: string | readonly string[]): Promise<T> => {
    const { exit, document, stderr } = await answer<T>(typed);
    if (exit === 0) return document;
    const command = typeof typed === 'string' ? typed : typed.join(' ');
    throw new Error(`ring-builder ${command} ended with ${exit}: ${stderr}`);
  };
  return { folder: cwd, run, answer, json };
}
