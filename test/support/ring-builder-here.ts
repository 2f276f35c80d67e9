// Runs the commands of ring-builder in this process: a hundred commands take no longer than the
// start of one process.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { type Answer, type Context, linesOf } from '../../tools/ring-builder/cli/command.ts';
import { parseCommandLine } from '../../tools/ring-builder/command-line.ts';
import { unsigned } from './ring-builder-program.ts';

type ToldAnswer = Omit<Answer, 'lines'> & { readonly lines: readonly string[] };

export interface RingBuilderHere {
  readonly folder: string;
  /** The context of a command, apart from its words. */
  readonly contextOf: (args: readonly string[]) => Context;
  /**
   * Returns the document of --json. A text is split at blanks. Relative files lie in the folder.
   */
  readonly json: <T = Record<string, unknown>>(args: string | readonly string[]) => Promise<T>;
  /** Returns what a person reads, including the next command. */
  readonly text: (args: string | readonly string[]) => Promise<string>;
  /** Returns the answer of a command, including its exit code. */
  readonly answer: (args: string | readonly string[]) => Promise<ToldAnswer>;
  /** Runs a command that must fail. Returns how it would end. */
  readonly refusal: (args: string) => Promise<{ exit: number; code: string }>;
}

/** `world` replaces parts of the usual context. */
export async function ringBuilderHere(world: Partial<Context> = {}): Promise<RingBuilderHere> {
  const folder = await mkdtemp(join(tmpdir(), 'ring-builder-'));
  const rings = world.rings ?? join(folder, 'rings');
  const contextOf = (args: readonly string[]): Context => ({
    rings,
    yes: args.includes('--yes'),
    command: `ring-builder ${args.join(' ')}`,
    user: 'ada',
    keys: { folder: join(folder, 'keys'), name: null, passphrase: () => Promise.resolve(null) },
    nowMs: () => Date.parse('2026-11-21T03:00:00Z'),
    tell: () => undefined,
    show: () => undefined,
    localHour: () => 3,
    timeZone: 'Europe/Berlin',
    atInterrupt: () => () => undefined,
    next: (command) => `ring-builder ${command}`,
    ...world,
  });
  const run = async (words: string | readonly string[]): Promise<ToldAnswer> => {
    const args = unsigned(typeof words === 'string' ? words.split(' ') : words);
    const parsed = await parseCommandLine([`--rings=${rings}`, ...args.map(inFolder)]);
    if (parsed.kind === 'help') throw new Error(`help instead of ${args.join(' ')}`);
    const answer = await parsed.command.run(parsed.args, contextOf(args));
    return { ...answer, lines: linesOf(answer.lines) };
  };
  const inFolder = (word: string): string =>
    /\.(gz|builder|json)$|^absent$/.test(word) && !isAbsolute(word) ? join(folder, word) : word;
  return {
    folder,
    contextOf,
    json: async <T>(args: string | readonly string[]) =>
      // The caller states the type of the document.
      JSON.parse(JSON.stringify((await run(args)).json)) as T,
    text: async (args) => {
      const { lines, next } = await run(args);
      return [...lines, ...(next === undefined ? [] : ['', `Next: ${next}`])].join('\n');
    },
    answer: run,
    refusal: async (args) => {
      const error = await run(args).catch((one: unknown) => one);
      if (error instanceof CodedError) return { exit: error.exit, code: error.code };
      throw error instanceof Error ? error : new Error(`${args} did not fail`);
    },
  };
}
