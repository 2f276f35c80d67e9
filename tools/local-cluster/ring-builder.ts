// Runs the real ring-builder with the arguments that a person would type, and reads its JSON
// answer. A rollout shows its moves meanwhile: drawn on a terminal, as lines elsewhere.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { quoteWord } from '@ringwright/base/quote-command';
import { failure } from './failure.ts';
import { rolloutLine } from './rollout-line.ts';

const BUILDER_MAIN = path.resolve(import.meta.dirname, '../ring-builder/launcher.mjs');

interface RingBuilderOptions {
  /** The value of --rings. */
  readonly rings: string;
  /**
   * Variables added to this program's environment, such as the keys folder. Read for each command.
   */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends a running command. */
  readonly signal: AbortSignal;
  /** Called before each command with its quoted words, without --json, --yes and --rings. */
  readonly announce: (args: readonly string[]) => void;
  /** Called with the progress lines of a rollout that cannot draw on a terminal itself. */
  readonly say: (line: string) => void;
}

/** Resolves to the JSON document of the command. */
export type RingBuilder = <Document extends object>(...args: string[]) => Promise<Document>;

export function ringBuilder(options: RingBuilderOptions): RingBuilder {
  const { rings, environment, signal, announce, say } = options;
  return async <Document extends object>(...args: string[]) => {
    const typed = ['ring-builder', ...args.map(quoteWord)];
    const command = typed.join(' ');
    announce(typed);
    const argv = [BUILDER_MAIN, ...args, '--rings', rings, '--json', '--yes'];
    const isShown = args[0] === 'rollout';
    const listen = (line: string): void => (isShown ? say(rolloutLine(line) ?? line) : undefined);
    const env = { ...process.env, ...environment };
    const isDrawn = isShown && process.stderr.isTTY;
    const { code, stdout, stderr } = await run(argv, { signal, env }, isDrawn ? null : listen);
    if (code !== 0) {
      throw failure(`\`${command}\` ended with ${code}: ${stderr.trim() || stdout.trim()}`);
    }
    return parseDocument(command, stdout) as Document;
  };
}

function parseDocument(command: string, stdout: string): object {
  try {
    const document: unknown = JSON.parse(stdout);
    if (typeof document === 'object' && document !== null) return document;
  } catch (cause) {
    throw failure(`\`${command}\` printed no JSON document: ${stdout.slice(0, 200)}`, '', cause);
  }
  throw failure(`\`${command}\` printed ${stdout.slice(0, 200)}, not an object`);
}

/** `listen` receives each line on stderr at once; null: the terminal shows them. */
function run(
  args: readonly string[],
  options: { readonly signal: AbortSignal; readonly env: NodeJS.ProcessEnv },
  listen: ((line: string) => void) | null,
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const errors = listen === null ? 'inherit' : 'pipe';
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', errors], ...options });
    const stdout: Buffer[] = [];
    const stderr: string[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    if (child.stderr) {
      createInterface({ input: child.stderr }).on('line', (line) => {
        stderr.push(line);
        listen?.(line);
      });
    }
    child.once('error', reject);
    child.once('close', (code, killedBy) =>
      resolve({
        code: code ?? killedBy ?? 'no code',
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: stderr.filter((line) => rolloutLine(line) === null).join('\n'),
      }),
    );
  });
}
