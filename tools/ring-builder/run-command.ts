// One command as it was typed: parses, calls, prints, and answers the exit code; nothing else.
//
// A new command is a line in verbs.ts and a file commands/<verb>.ts that exports `verb: Verb`
// (verb.ts): its options, its examples, and `run(args, context)`, which returns an Answer: the
// document of --json, lines for people, and the next command to type. Verbs never print and never
// exit; they throw CodedError. Heavy packages may be imported at the top of a verb's file, because
// only the file of the verb that was typed is loaded.
import { hostname, userInfo } from 'node:os';
import path from 'node:path';
import { quoteCommand, quoteWord } from '@ringwright/base/quote-command';
import { type Arguments, flag, optionalText, text, texts } from './cli/arguments.ts';
import { authorName } from './cli/author-name.ts';
import { Display, type Screen } from './cli/display.ts';
import { keysPlace } from './cli/keys-place.ts';
import type { Terminal } from './cli/terminal.ts';
import type { Answer, Context } from './cli/verb.ts';
import { type Naming, nameCommand, nameRings } from './name-rings.ts';
import { printError } from './print-error.ts';

/** What a process has, and a test stands in for. */
interface Surroundings {
  /** Where the folder of rings lies; empty: where the process is. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: Terminal;
  readonly errors: Terminal;
  /** Of the window that help is read in. */
  readonly columns: number | undefined;
  /** Where progress is drawn; null: nobody watches. */
  readonly screen: () => Screen | null;
  readonly askPassphrase: (use: { readonly isNew: boolean }) => Promise<string | null>;
  readonly beforeInterrupt: (display: Display) => Context['atInterrupt'];
}

export async function runCommand(args: readonly string[], world: Surroundings): Promise<number> {
  const { env, output, errors, screen } = world;
  const inJson = args.slice(0, endOfOptions(args)).includes('--json');
  const display = new Display({ terminal: errors, screen, inJson, nowMs: Date.now });
  /** What helps with wrong usage that names no command itself. */
  let help = 'ring-builder --help';
  /** For the commands that are printed. */
  let naming: Naming = { ringsOption: '', serverOptions: '', ring: undefined };
  let told = '';
  try {
    const { defaultRings, helpCommand, parseCommandLine } = await import('./command-line.ts');
    help = helpCommand(args);
    const parsed = await parseCommandLine(args, world.columns, env);
    if (parsed.kind === 'help') {
      output.lines(parsed.text.split('\n'));
      return 0;
    }
    const rings = text(parsed.args, 'rings');
    const ringsOption = rings === defaultRings ? '' : ` --rings ${quoteWord(rings)}`;
    naming = {
      ringsOption,
      serverOptions: serverOptionsOf(parsed.args),
      ring: optionalText(parsed.args, 'ring'),
    };
    const context: Context = {
      rings: path.isAbsolute(rings) ? rings : path.join(world.folder, rings),
      yes: flag(parsed.args, 'yes'),
      command: quoteCommand(['ring-builder', ...args]),
      user: userOf(parsed.args, env),
      keys: await keysPlace(parsed.args, env, world.askPassphrase),
      nowMs: Date.now,
      tell: (line) => {
        told = nameRings(line, naming);
        display.tell(told);
      },
      show: (drawing) => display.show(drawing),
      localHour: () => new Date().getHours(),
      // Asking for it takes 14 ms of processor.
      get timeZone() {
        return new Intl.DateTimeFormat().resolvedOptions().timeZone;
      },
      atInterrupt: world.beforeInterrupt(display),
      next: (command) => nameCommand(command, naming),
    };
    // Here, so that help need not wait for all that reads rings.
    const { followStore } = await import('./commands/history/follow-store.ts');
    await followStore(parsed.args, context, env);
    const answer = await parsed.verb.run(parsed.args, context).finally(() => display.end());
    output.lines(inJson ? [JSON.stringify(answer.json)] : linesOf(answer, naming));
    return answer.exit ?? 0;
  } catch (error) {
    const { exit, lines } = printError(error, { inJson, naming, help });
    // The hint of a wait that ended in this error stands right above it.
    errors.lines(lines.filter((line) => line !== told));
    return exit;
  }
}

/** As typed: what a variable of the environment holds is there for the next command too. */
function serverOptionsOf(args: Arguments): string {
  const names = ['ca', 'fingerprint', 'client-cert', 'token-file'];
  return names
    .flatMap((name) => texts(args, name).map((value) => ` --${name} ${quoteWord(value)}`))
    .join('');
}

function userOf(args: Arguments, env: Surroundings['env']): string {
  return authorName({
    given: optionalText(args, 'author'),
    env,
    account: () => userInfo().username,
    uid: process.getuid?.(),
    host: hostname(),
  });
}

function linesOf({ lines, next, quotes = false }: Answer, naming: Naming): readonly string[] {
  const named = quotes ? lines : lines.map((line) => nameRings(line, naming));
  return next === undefined ? named : [...named, '', `Next: ${next}`];
}

/** What follows a lone -- is text, whatever it looks like. */
function endOfOptions(args: readonly string[]): number {
  const at = args.indexOf('--');
  return at < 0 ? args.length : at;
}
