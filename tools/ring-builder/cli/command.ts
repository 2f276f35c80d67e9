// What a file in commands/ exports as `command`, what it is given, and what it answers; and the
// forms of an option: a text, a list of texts, a flag. yargs guesses no numbers: arguments.ts reads
// them.
import type { Options, PositionalOptions } from 'yargs';
import type { Arguments } from './arguments.ts';
import type { Drawing } from './display.ts';

export interface Command {
  /** By name, as in the usage line of command-groups.ts. Always of type string. */
  readonly positionals?: Readonly<Record<string, PositionalOptions>>;
  /** By name. Strings and booleans only: yargs guesses numbers, so arguments.ts parses them. */
  readonly options?: Readonly<Record<string, Options>>;
  /** Text at the end of the help, such as a file format, that fits no option. */
  readonly about?: string;
  /** Commands to type, each with its effect. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** For commands whose ring came second in older releases. That order still works undocumented. */
  readonly oldOrder?: {
    /** The positional that came first. */
    readonly second: string;
    readonly isOld: (first: string, second: string) => boolean;
  };
  /** The command reads the words after a lone `--` as args['--']. Other commands refuse such words. */
  readonly readsBehindDashes?: true;
  readonly run: (args: Arguments, context: Context) => Promise<Answer>;
}

/**
 * What a command needs of the servers it asks.
 * - folder: nothing, it works on the rings folder. If it asks servers, then only for additional
 *   information. Exception: `set --balance bytes` asks as `splits` does.
 * - signature: it sends signed documents, which are their own credential.
 * - The others are roles.
 */
export type CommandNeed = 'folder' | 'signature' | 'metrics' | 'operator' | 'read' | 'write';

/** An entry of the table in command-groups.ts: what is known of a command before its file is loaded. */
export interface CommandEntry {
  readonly name: string;
  /** In yargs' notation; the first word is the command's name. */
  readonly usage: string;
  readonly summary: string;
  readonly needs: CommandNeed;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** The folder of private keys and the passphrase that opens them. */
export interface KeyFolder {
  readonly folder: string;
  /** Name of the ring key to sign with if there are several. */
  readonly name: string | null;
  /**
   * Returns the passphrase from a file or the environment, else asks once on a terminal; null if
   * there is neither. `create`: for new keys. `given`: does not ask.
   */
  readonly passphrase: (use: 'open' | 'create' | 'given') => Promise<string | null>;
}

/**
 * The environment of a command, made by run-command.ts. Commands read no clock, user name or
 * environment variable themselves.
 */
export interface Context {
  /** The folder of all rings (--rings). */
  readonly rings: string;
  readonly yes: boolean;
  /** The command as typed, for the log. */
  readonly command: string;
  /** The author for the log: `alice@db1` (author-name.ts). */
  readonly user: string;
  readonly keys: KeyFolder;
  readonly nowMs: () => number;
  /** Prints a line on stderr: progress or a warning. */
  readonly tell: (line: string) => void;
  /** Shows progress: replaces the last drawing, below the lines printed by tell. */
  readonly show: (drawing: Drawing) => void;
  /** Returns the local hour, 0 to 23. */
  readonly localHour: () => number;
  /** The operator's time zone, such as Europe/Berlin. */
  readonly timeZone: string;
  /**
   * Registers work to do before the program ends by Ctrl-C, SIGTERM or the loss of its terminal.
   * Returns a function that unregisters it.
   */
  readonly atInterrupt: (work: () => Promise<void>) => () => void;
  /** Completes a command to type next with the current --rings: `next('plan cities')`. */
  readonly next: (command: string) => string;
}

/** For people. What is false or undefined is no line, so that one may depend on a condition. */
export type Lines = readonly (string | false | undefined)[];

export function linesOf(lines: Lines): string[] {
  return lines.filter((line) => typeof line === 'string');
}

export interface Answer {
  /** The one document for --json. Keys are stable: new ones may be added, none is renamed. */
  readonly json: unknown;
  /** The same answer for people. */
  readonly lines: Lines;
  /** The lines quote commands as typed earlier, so no --rings is inserted into them. */
  readonly quotes?: boolean;
  /** The command to type next, from Context.next. Printed as the last line. */
  readonly next?: string;
  /**
   * Exit code: 1 for a negative answer, 4 if servers were not reached, 5 if they refused, 6 if the
   * rest waits for paused moves. Default 0.
   */
  readonly exit?: number;
}

export function textOption(describe: string, more: Options = {}): Options {
  return { type: 'string', requiresArg: true, ...more, describe };
}

/** Several words may follow the option, or the option may be repeated. */
export function listOption(describe: string): Options {
  return textOption(describe, { array: true });
}

export function flagOption(describe: string): Options {
  return { type: 'boolean', describe };
}
