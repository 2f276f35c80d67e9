// Program: ring-builder. Parses, calls, prints, and ends with an exit code; nothing else.
//
// A new command is a line in verbs.ts and a file commands/<verb>.ts that exports `verb: Verb`
// (verb.ts): its options, its examples, and `run(args, context)`, which returns an Answer: the
// document of --json, lines for people, and the next command to type. Verbs never print and never
// exit; they throw CodedError. Heavy packages may be imported at the top of a verb's file, because
// only the file of the verb that was typed is loaded.
import { hostname, userInfo } from 'node:os';
import { flag, optionalText, text } from './cli/arguments.ts';
import { askPassphrase } from './cli/ask-passphrase.ts';
import { authorName } from './cli/author-name.ts';
import { Display } from './cli/display.ts';
import { keysPlace } from './cli/keys-place.ts';
import { quoteCommand, quoteWord } from './cli/quote-command.ts';
import { Terminal } from './cli/terminal.ts';
import type { Answer, Context } from './cli/verb.ts';
import { followStore } from './commands/history/follow-store.ts';
import { nameRings } from './name-rings.ts';
import { printError } from './print-error.ts';

const args = process.argv.slice(2);
const inJson = args.slice(0, endOfOptions(args)).includes('--json');

const { stderr } = process;
const [output, errors] = [terminalOf(process.stdout), terminalOf(stderr)];
const display = new Display({
  terminal: errors,
  screen: () => (stderr.isTTY ? screenOf(stderr) : null),
  inJson,
  nowMs: Date.now,
});

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exitCode = error.code === 'EPIPE' ? 0 : 4;
  process.exit();
});

/** What helps with wrong usage that names no command itself. */
let help = 'ring-builder --help';
/** What was typed of --rings, for the commands that are printed; empty for the default. */
let ringsOption = '';

try {
  const { defaultRings, helpCommand, parseCommandLine } = await import('./command-line.ts');
  help = helpCommand(args);
  const parsed = await parseCommandLine(args, process.stdout.columns, process.env);
  if (parsed.kind === 'help') {
    output.lines(parsed.text.split('\n'));
  } else {
    const rings = text(parsed.args, 'rings');
    ringsOption = rings === defaultRings ? '' : ` --rings ${quoteWord(rings)}`;
    const context: Context = {
      rings,
      yes: flag(parsed.args, 'yes'),
      command: quoteCommand(['ring-builder', ...args]),
      user: authorName({
        given: optionalText(parsed.args, 'author'),
        env: process.env,
        account: () => userInfo().username,
        uid: process.getuid?.(),
        host: hostname(),
      }),
      keys: await keysPlace(parsed.args, process.env, (use) =>
        askPassphrase({ input: process.stdin, output: stderr }, use),
      ),
      nowMs: Date.now,
      tell: (line) => display.tell(nameRings(line, ringsOption)),
      show: (drawing) => display.show(drawing),
      localHour: () => new Date().getHours(),
      timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
      atInterrupt: beforeInterrupt,
      next: (command) =>
        `ring-builder ${command}${command.includes(' --rings ') ? '' : ringsOption}`,
    };
    await followStore(parsed.args, context, process.env);
    const answer = await parsed.verb.run(parsed.args, context).finally(() => display.end());
    output.lines(inJson ? [JSON.stringify(answer.json)] : linesOf(answer));
    process.exitCode = answer.exit ?? 0;
  }
} catch (error) {
  const { exit, lines } = printError(error, { inJson, ringsOption, help });
  errors.lines(lines);
  process.exitCode = exit;
}

function linesOf({ lines, next, quotes = false }: Answer): readonly string[] {
  const named = quotes ? lines : lines.map((line) => nameRings(line, ringsOption));
  return next === undefined ? named : [...named, '', `Next: ${next}`];
}

/** hasColors() obeys NO_COLOR. */
function terminalOf(stream: NodeJS.WriteStream): Terminal {
  const colors = stream.isTTY && stream.hasColors();
  return new Terminal({ write: (text) => stream.write(text), colors });
}

/** A quarter of the window is left for what was told before. */
function screenOf({ columns, rows }: NodeJS.WriteStream) {
  return { columns: columns || 80, lines: Math.max(6, Math.floor((rows || 24) * 0.75)) };
}

/** What follows a lone -- is text, whatever it looks like. */
function endOfOptions(given: readonly string[]): number {
  const at = given.indexOf('--');
  return at < 0 ? given.length : at;
}

/** A second signal ends it at once. */
function beforeInterrupt(work: () => Promise<void>): () => void {
  const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
  const forget: (() => void)[] = [];
  const end = (code: number): void => {
    for (const off of forget) off();
    display.end();
    void work()
      .catch(() => undefined) // it ends in any case
      .finally(() => process.exit(code));
  };
  for (const [signal, code] of Object.entries(signals)) {
    const listener = (): void => end(code);
    process.once(signal, listener);
    forget.push(() => process.off(signal, listener));
  }
  return () => {
    for (const off of forget) off();
  };
}
