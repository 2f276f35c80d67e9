// Parses the command line into a command and its arguments. The only file that uses yargs.
import { CodedError } from '@ringwright/base/coded-error';
import { versionAnswer } from '@ringwright/base/program-version';
import { usageSentence } from '@ringwright/base/usage-sentence';
import yargs, { type Argv, type Options } from 'yargs';
import { Arguments, hideLoneDashes, usage } from './cli/arguments.ts';
import {
  type Command,
  type CommandEntry,
  type CommandNeed,
  flagOption,
  textOption,
} from './cli/command.ts';
import { isNumberName } from './cli/number-ranges.ts';
import { commandGroups, commands } from './command-groups.ts';
import { completionWord } from './completion/scripts.ts';
import { proving } from './proving-command.ts';

export const defaultRings = 'rings';

const globalOptions: Readonly<Record<string, Options>> = {
  rings: textOption('folder of rings', { default: defaultRings }),
  store: textOption('store of the heads for several machines: etcd://HOST:PORT,…; remembered'),
  'ring-stores': textOption('with --store: folders DIR,DIR,DIR for the files of new rings'),
  'store-ca': textOption(
    'with etcds://: CA certificate of the store; remembered (RINGWRIGHT_STORE_CA)',
  ),
  'store-cert': textOption('client certificate for the store; remembered (RINGWRIGHT_STORE_CERT)'),
  'store-key': textOption('private key of that certificate; remembered (RINGWRIGHT_STORE_KEY)'),
  'store-password-file': textOption(
    'file with the password of USER in etcds://USER@HOST:PORT; the path is remembered',
  ),
  ca: textOption('CA certificate for servers whose keys are not in a ring (RINGWRIGHT_CA)'),
  fingerprint: textOption(
    'SHA-256 of the public key of such a server, in hex (RINGWRIGHT_FINGERPRINT)',
  ),
  'client-cert': textOption(
    'client certificate in place of a token, from certs issue --role (RINGWRIGHT_CLIENT_CERT)',
  ),
  'token-file': textOption(
    'file with the access token (RING_BUILDER_TOKEN_FILE; or the token in RING_BUILDER_TOKEN)',
  ),
  json: flagOption('one JSON document on stdout'),
  'key-folder': textOption(
    'folder of private keys (default RING_BUILDER_KEYS, or ~/.config/ringwright/keys)',
  ),
  'sign-as': textOption('name of the ring key to sign with'),
  'passphrase-file': textOption(
    'file with the passphrase of the keys (default RING_BUILDER_PASSPHRASE, or a prompt)',
  ),
  author: textOption(
    'name to record in the log (default RINGWRIGHT_AUTHOR, SUDO_USER or your account)',
  ),
  yes: flagOption('confirm a dangerous action'),
};

const ownGroup = 'Options:';
const globalGroup = 'Options of every command:';

const exitCodes = [
  'Exit codes: 0 done, or nothing to do · 1 the answer is no · 2 usage error or bad input',
  '3 conflict (head moved, stale plan, lock held) · 4 server or disk not reached · 5 refused by a safety rule',
  '6 a rollout waits for paused moves or for min_part_hours',
].join('\n');

/** As yargs gives them. */
type Values = Readonly<Record<string, unknown>>;

export type Parsed =
  | { readonly kind: 'run'; readonly command: Command; readonly args: Arguments }
  | { readonly kind: 'help'; readonly text: string };

/** Help width without a terminal. Narrower columns hold one word; wider lines are hard to read. */
const columnsElsewhere = 100;
const columnsMin = 40;
const columnsMax = 160;

/** Throws USAGE with yargs' sentence and a hint to the help. */
export async function parseCommandLine(
  argv: readonly string[],
  columns: number = columnsElsewhere,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Parsed> {
  if (argv[0] === completionWord) {
    const { complete } = await import('./completion/complete.ts');
    const known = { commands, options: globalOptions, defaultRings };
    return { kind: 'help', text: await complete(argv.slice(1), known) };
  }
  const parsed = Promise.withResolvers<Parsed>();
  const parser = newParser(argv, columns);
  for (const entry of commands) {
    let command: Command | undefined;
    parser.command(
      entry.usage,
      summaryOf(entry),
      async (line: Argv) => {
        command = (await entry.load()).command;
        return describeCommand(line, command, entry);
      },
      (values: Values) => {
        if (command === undefined) return undefined;
        const args = ringFirst(command, values);
        requireValues({ ...globalOptions, ...command.options }, args);
        requireNothingBehind(command, args.texts('--'));
        parsed.resolve({ kind: 'run', command: proving(entry.name, command, env), args });
        // After a command yargs formats its help, which nobody reads. That takes 10 ms.
        return new Promise<never>(() => undefined);
      },
    );
  }
  // Not an option of yargs, because some commands have an argument named `version`.
  if (argv.find((word) => word !== '--json') === '--version') {
    return { kind: 'help', text: versionAnswer('ring-builder', argv.includes('--json')) };
  }
  const words = hideLoneDashes(argv);
  let help = '';
  // With a callback, yargs neither prints nor exits.
  const parsing = parser.parseAsync(
    words.length === 0 ? ['--help'] : words,
    {},
    (_error, _args, output) => {
      help = output;
    },
  );
  parsing
    // Errors that yargs finds after a command is loaded do not pass through fail().
    .catch((error: Error) => fail(null, error, argv))
    .then(() => parsed.resolve({ kind: 'help', text: inGroups(helpOf(help, argv)) }))
    .catch(parsed.reject);
  return parsed.promise;
}

/** yargs takes a word after a lone `--` for the command, then runs none and prints nothing. */
function helpOf(help: string, argv: readonly string[]): string {
  if (help !== '') return help;
  throw usageError('no command: words after a lone -- are not commands', argv);
}

function newParser(argv: readonly string[], columns: number): Argv {
  const isHelp = argv.length === 0 || argv.some((word) => /^-*h(elp)?\b/.test(word));
  return (
    yargs()
      .scriptName('ring-builder')
      .usage(
        '$0 COMMAND RING …\n$0 --version\n\nBuilds rings: versioned maps of partitions to devices.',
      )
      // usageError matches yargs' English sentences. All other text here is English, too.
      .locale('en')
      .options(globalOptions)
      .group([...Object.keys(globalOptions), 'help'], globalGroup)
      .parserConfiguration({
        'parse-positional-numbers': false,
        'parse-numbers': false,
        'dot-notation': false,
        'boolean-negation': false,
        'camel-case-expansion': false,
        'populate--': true,
      })
      .strict()
      .demandCommand(1, 'no command')
      .recommendCommands()
      .help()
      .alias('help', 'h')
      .version(false)
      // yargs formats the help for every command it runs. Wrapping takes most of that time.
      .wrap(isHelp ? Math.max(columnsMin, Math.min(columns, columnsMax)) : null)
      .epilogue(exitCodes)
      .fail((message: string | null, error: Error | null) => fail(message, error, argv))
  );
}

/** Marks the summary of the first command of a group. A NUL has no width. */
const groupMark = '\0';

function summaryOf(entry: CommandEntry): string {
  const isFirst = commandGroups.some((group) => group.commands[0] === entry);
  return isFirst ? `${groupMark}${entry.summary}` : entry.summary;
}

/** Inserts the headings of the groups of command-groups.ts, because yargs groups only options. */
function inGroups(help: string): string {
  // The help of one command. Its summary may carry the group mark.
  if (!help.includes('\nCommands:\n')) return help.replace(groupMark, '');
  const headings = commandGroups.map(({ to }, at) => `${at === 0 ? '' : '\n'}Commands to ${to}:\n`);
  const lines = help.replace('\nCommands:\n', '\n').split('\n');
  return lines
    .map((line) =>
      line.includes(groupMark) ? `${headings.shift()}${line.replace(groupMark, '')}` : line,
    )
    .join('\n');
}

function fail(
  message: string | null,
  error: Error | null | undefined,
  argv: readonly string[],
): never {
  if (error !== null && error !== undefined && error.name !== 'YError') throw error;
  throw usageError(message ?? error?.message ?? 'wrong usage', argv);
}

function describeCommand(line: Argv, command: Command, { usage, needs }: CommandEntry): Argv {
  for (const [name, options] of Object.entries(command.positionals ?? {})) {
    // With an old word order yargs would find the ring here and refuse it.
    const choices = name === command.oldOrder?.second ? undefined : options.choices;
    line.positional(name, { type: 'string', ...options, choices });
  }
  if (usage.includes('<ring>'))
    line.positional('ring', { type: 'string', describe: 'name of the ring (= keyspace)' });
  for (const [name, options] of Object.entries(command.options ?? {})) {
    line.option(name, { ...options, group: ownGroup, requiresArg: options.type === 'string' });
  }
  for (const [example, what] of command.examples) line.example(example, what);
  const paragraphs = [command.about, needSentence(needs)].filter((one) => one !== undefined);
  if (paragraphs.length > 0) line.epilogue([...paragraphs, exitCodes].join('\n\n'));
  return line;
}

/** Says which role the command needs on servers that demand a token. */
function needSentence(need: CommandNeed): string | undefined {
  if (need === 'folder' || need === 'signature') return undefined;
  return `If the servers require tokens, yours needs the role ${need} (ring-builder access).`;
}

/**
 * Checks values before a command runs: none may be empty, as from an unset variable in a script,
 * and numbers must be in range, even if the command does not read them.
 */
function requireValues(options: Readonly<Record<string, Options>>, args: Arguments): void {
  for (const [name, { type }] of Object.entries(options)) {
    if (type !== 'string') continue;
    const isEmpty = args.texts(name).includes('');
    if (isEmpty && !mayBeEmpty.includes(name)) throw usage(`--${name} needs a value`);
    if (isNumberName(name)) args.optionalNumber(name);
  }
}

/** Ignoring words would carry out half of a command. Throws USAGE. */
function requireNothingBehind({ readsBehindDashes }: Command, words: readonly string[]): void {
  if (readsBehindDashes === true || words.length === 0) return;
  throw usage(`${words.join(' ')}: this command takes no arguments after a lone --`);
}

const mayBeEmpty = ['meta', 'hash-prefix', 'hash-suffix', 'hash-prefix-hex', 'hash-suffix-hex'];

/** Puts the ring first where it was typed in the order of older releases. Throws USAGE. */
function ringFirst(command: Command, values: Values): Arguments {
  const args = new Arguments(values);
  if (command.oldOrder === undefined) return args;
  const { second, isOld } = command.oldOrder;
  const isOldOrder = isOld(args.text('ring'), args.text(second));
  const reordered = isOldOrder
    ? new Arguments({ ...values, ring: values[second], [second]: values['ring'] })
    : args;
  const choices = command.positionals?.[second]?.choices;
  const chosen = reordered.text(second);
  if (choices === undefined || choices.includes(chosen)) return reordered;
  throw usage(`${chosen}: expected ${choices.join(', ')}`);
}

function usageError(message: string, argv: readonly string[]): CodedError {
  const given = commandWord(argv);
  const sentence = usageSentence(message)
    .replace(/^--([\w-]+) /, (typed, name: string) => (isWord(given, name) ? `${name} ` : typed))
    .replace(/^Unknown command: .*/, '')
    .replace(/^Not enough non-option .*/, `missing argument: ring-builder ${usageOf(given)}`);
  const isUnknown = given !== '' && usageOf(given) === undefined;
  // For an unknown command, its unknown arguments are not worth mentioning.
  const more = sentence.replace(/^Unknown arguments?: .*/, '');
  const unknown = `unknown command ${given}${more === '' ? '' : `: ${more}`}`;
  return new CodedError('USAGE', isUnknown ? unknown : sentence, { hint: helpCommand(argv) });
}

/** Whether the command has a positional argument of this name, as opposed to an option. */
function isWord(command: string, name: string): boolean {
  return new RegExp(`[<[]${name}(\\.\\.)?[>\\]]`).test(usageOf(command) ?? '');
}

/** Returns the command that prints the help for this command line. */
export function helpCommand(argv: readonly string[]): string {
  const command = commandWord(argv);
  return `ring-builder ${usageOf(command) === undefined ? '' : `${command} `}--help`;
}

/** Returns the first word that is neither an option nor the value of a global option. */
function commandWord(argv: readonly string[]): string {
  const isValue = (at: number): boolean =>
    globalOptions[argv[at - 1]?.replace(/^--/, '') ?? '']?.type === 'string';
  return argv.find((word, at) => !word.startsWith('-') && !isValue(at)) ?? '';
}

/** Returns the usage line of the command, or undefined if there is no such command. */
function usageOf(word: string): string | undefined {
  return commands.find(({ name }) => name === word)?.usage;
}
