// One command as it was typed: parses, calls, prints, and answers the exit code; nothing else.  A
// new command is two lines in command-groups.ts and a file commands/<command>.ts that exports
// `command: Command` (command.ts): its options, its examples, and `run(args, context)`, which
// returns an Answer: the document of --json, lines for people, and the next command to type.
// Commands never print and never exit; they throw CodedError. Heavy packages may be imported at the
// top of a command's file, because only the file of the command that was typed is loaded.
import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { quoteCommand, quoteWord } from '@ringwright/base/quote-command';
import type { Arguments } from './cli/arguments.ts';
import { authorName } from './cli/author-name.ts';
import { type Answer, type Context, linesOf } from './cli/command.ts';
import { Display, type Screen } from './cli/display.ts';
import { keyFolder } from './cli/key-folder.ts';
import type { Terminal } from './cli/terminal.ts';
import { type Naming, nameCommand, nameRings } from './name-rings.ts';
import { printError } from './print-error.ts';

/** What the process provides and a test replaces. */
interface Surroundings {
  /** Base folder for a relative --rings path; empty: the working directory. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Terminal;
  readonly errors: Terminal;
  /** Width of the terminal, for the help. */
  readonly columns: number | undefined;
  /** Returns where progress is drawn, or null where stderr is no terminal. */
  readonly screen: () => Screen | null;
  readonly askPassphrase: (use: { readonly isNew: boolean }) => Promise<string | null>;
  readonly beforeInterrupt: (display: Display) => Context['atInterrupt'];
}

export async function runCommand(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const { env, output, errors, screen } = surroundings;
  const inJson = args.slice(0, endOfOptions(args)).includes('--json');
  const display = new Display({ terminal: errors, screen, inJson, nowMs: Date.now });
  /** The hint for wrong usage that names no command. */
  let help = 'ring-builder --help';
  /** Completes the commands that are printed. */
  let naming: Naming = { ringsOption: '', serverOptions: '', ring: undefined };
  let lastLine = '';
  try {
    const { defaultRings, helpCommand, parseCommandLine } = await import('./command-line.ts');
    help = helpCommand(args);
    const parsed = await parseCommandLine(args, surroundings.columns, env);
    if (parsed.kind === 'help') {
      output.lines(parsed.text.split('\n'));
      return 0;
    }
    const rings = parsed.args.text('rings');
    const ringsOption = rings === defaultRings ? '' : ` --rings ${quoteWord(rings)}`;
    naming = {
      ringsOption,
      serverOptions: serverOptionsOf(parsed.args),
      ring: parsed.args.optionalText('ring'),
    };
    const context: Context = {
      rings: path.isAbsolute(rings) ? rings : path.join(surroundings.folder, rings),
      yes: parsed.args.flag('yes'),
      command: quoteCommand(['ring-builder', ...args]),
      user: userOf(parsed.args, env),
      keys: await keyFolder(parsed.args, env, surroundings.askPassphrase),
      nowMs: Date.now,
      tell: (line) => {
        lastLine = nameRings(line, naming);
        display.tell(lastLine);
      },
      show: (drawing) => display.show(drawing),
      localHour: () => new Date().getHours(),
      // Lazy: reading the time zone takes 14 ms of CPU.
      get timeZone() {
        return new Intl.DateTimeFormat().resolvedOptions().timeZone;
      },
      atInterrupt: surroundings.beforeInterrupt(display),
      next: (command) => nameCommand(command, naming),
    };
    // Imported here so that help does not load the code that reads rings.
    const { followStore, withoutStore } = await import('./commands/history/follow-store.ts');
    const silence = await followStore(parsed.args, context, env);
    const run = (): Promise<Answer> =>
      parsed.command.run(parsed.args, context).finally(() => display.erase());
    const answer = await (silence === null ? run() : withoutStore(context, silence, run));
    output.lines(inJson ? [JSON.stringify(answer.json)] : textOf(answer, naming));
    return answer.exit ?? 0;
  } catch (error) {
    const { exit, lines } = printError(error, { inJson, naming, help });
    // A hint that was just printed while waiting is not repeated.
    errors.lines(lines.filter((line) => line !== lastLine));
    return exit;
  }
}

/**
 * Returns the server options as typed. Values from the environment are omitted, because the next
 * command reads them from there too.
 */
function serverOptionsOf(args: Arguments): string {
  const names = ['ca', 'fingerprint', 'client-cert', 'token-file'];
  return names
    .flatMap((name) => args.texts(name).map((value) => ` --${name} ${quoteWord(value)}`))
    .join('');
}

function userOf(args: Arguments, env: Surroundings['env']): string {
  return authorName({
    authorOption: args.optionalText('author'),
    env,
    account: () => userInfo().username,
    uid: process.getuid?.(),
    host: hostname(),
  });
}

function textOf({ lines, next, quotes = false }: Answer, naming: Naming): string[] {
  const named = linesOf(lines).map((line) => (quotes ? line : nameRings(line, naming)));
  return next === undefined ? named : [...named, '', `Next: ${next}`];
}

/**
 * Returns the index of a lone `--`. The words after it are text, even if they look like options.
 */
function endOfOptions(args: readonly string[]): number {
  const index = args.indexOf('--');
  return index < 0 ? args.length : index;
}
