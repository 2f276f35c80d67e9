// ring-builder in a scratch folder, as it is typed: words in, exit code and output out. A command
// runs either in this process, with all of the program except its start, which takes longer than
// most commands, or as a process of its own.
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Terminal } from '../../tools/ring-builder/cli/terminal.ts';
import { runCommand } from '../../tools/ring-builder/run-command.ts';

const program = join(import.meta.dirname, '../../tools/ring-builder/launcher.mjs');

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RingBuilder {
  readonly folder: string;
  /** Takes the words one by one, or as a text that is split at blanks. */
  readonly run: (typed: string | readonly string[], stdin?: string) => Promise<Ended>;
  /** Returns the JSON document of a command, with any exit code, unless the command failed. */
  readonly answer: <T = Record<string, unknown>>(
    typed: string | readonly string[],
  ) => Promise<{ readonly exit: number | null; readonly document: T }>;
  /** Returns the JSON document of a command that must exit with 0. The caller states its type. */
  readonly json: <T = Record<string, unknown>>(typed: string | readonly string[]) => Promise<T>;
}

/** Additional options and environment for Node itself. */
export interface NodeShape {
  readonly options: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs commands in this process. Only `--rings` is relative to the folder: name files in full. */
export async function ringBuilderIn(
  folder?: string,
  environment: NodeShape['environment'] = {},
): Promise<RingBuilder> {
  const home = folder ?? (await scratch());
  return ringBuilderBy(home, async (args) => {
    const [stdout, stderr]: [string[], string[]] = [[], []];
    const terminalTo = (lines: string[]): Terminal =>
      new Terminal({ write: (line) => lines.push(line), colors: false });
    const exit = await runCommand(args, {
      folder: home,
      env: { ...process.env, ...environment },
      output: terminalTo(stdout),
      errors: terminalTo(stderr),
      columns: undefined,
      screen: () => null,
      askPassphrase: () => Promise.resolve(null),
      beforeInterrupt: () => () => () => undefined,
    });
    return { exit, stdout: stdout.join(''), stderr: stderr.join('') };
  });
}

/** Runs each command as a process, for signals, standard input, races or Node options. */
export async function ringBuilderProgramIn(
  folder?: string,
  node?: NodeShape,
): Promise<RingBuilder> {
  const cwd = folder ?? (await scratch());
  const env = { ...process.env, ...node?.environment };
  return ringBuilderBy(cwd, async (args, stdin) => {
    const words = [...(node?.options ?? []), program, ...args];
    const child = spawn(process.execPath, words, { cwd, env });
    const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
    child.stdin.on('error', () => undefined); // the command may end before it reads
    child.stdin.end(stdin);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { exit: await exited, stdout, stderr };
  });
}

function scratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'ring-builder-'));
}

function ringBuilderBy(
  folder: string,
  runWords: (args: readonly string[], stdin: string) => Promise<Ended>,
): RingBuilder {
  const run = (typed: string | readonly string[], stdin = ''): Promise<Ended> =>
    runWords(unsigned(typeof typed === 'string' ? typed.split(' ') : typed), stdin);
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
  return { folder, run, answer, json };
}

/** Makes rings of tests unsigned, unless the test itself names a folder of keys. */
export function unsigned(args: readonly string[]): readonly string[] {
  const isOpen = args.includes('create') && !args.includes('--key-folder');
  return isOpen ? [...args, '--unsigned'] : args;
}
