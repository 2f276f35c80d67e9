// What a file in commands/ exports as `verb`, what it is given, and what it answers.
import type { Options, PositionalOptions } from 'yargs';
import type { Arguments } from './arguments.ts';
import type { Drawing } from './display.ts';

export interface Verb {
  /** By name, for the names in the usage line of verbs.ts. Always of type string. */
  readonly positionals?: Readonly<Record<string, PositionalOptions>>;
  /** By name. Strings and booleans only: yargs guesses numbers, arguments.ts reads them. */
  readonly options?: Readonly<Record<string, Options>>;
  /** What no option has room for, such as the form of a file: the end of its help. */
  readonly about?: string;
  /** Commands to type, each with what it does. */
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** Where older releases wanted the ring second: their order still works, and no help names it. */
  readonly oldOrder?: {
    /** The positional that came first. */
    readonly second: string;
    readonly isOld: (first: string, second: string) => boolean;
  };
  /** It reads the words behind a lone `--`, as args['--']; to others they are wrong usage. */
  readonly readsBehindDashes?: true;
  readonly run: (args: Arguments, context: Context) => Promise<Answer>;
}

/**
 * What a command needs of the servers it asks. folder: nothing, it works on the rings folder; where
 * it asks servers too, only to say more. But `set --balance bytes` asks as `splits` does.
 * signature: it sends signed documents, which are their own credential. The others are roles.
 */
export type VerbNeed = 'folder' | 'signature' | 'metrics' | 'operator' | 'read' | 'write';

/** A line of the table in verbs.ts: what is known of a command before its file is loaded. */
export interface VerbEntry {
  readonly name: string;
  /** In yargs' notation; the first word is the name. */
  readonly usage: string;
  readonly summary: string;
  readonly needs: VerbNeed;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

/** Where private keys lie, and how they are opened. */
export interface KeysPlace {
  readonly folder: string;
  /** The ring key to sign with, when several are here. */
  readonly name: string | null;
  /**
   * Given, or asked for on a terminal, once; null: neither. `create`: of keys that are made now;
   * `given`: nobody is asked.
   */
  readonly passphrase: (use: 'open' | 'create' | 'given') => Promise<string | null>;
}

/** The world as run-command.ts sees it; verbs read no clock, no user name and no environment. */
export interface Context {
  /** Folder of ring folders: --rings. */
  readonly rings: string;
  readonly yes: boolean;
  /** The command as typed, for the log. */
  readonly command: string;
  /** A person at a machine: `alice@db1` (author-name.ts). */
  readonly user: string;
  readonly keys: KeysPlace;
  readonly nowMs: () => number;
  /** A line on stderr: progress and warnings. */
  readonly tell: (line: string) => void;
  /** For who watches: drawn over the last drawing, above which lines are told. */
  readonly show: (drawing: Drawing) => void;
  /** 0 to 23, of the operator's time zone. */
  readonly localHour: () => number;
  /** Its name, such as Europe/Berlin. */
  readonly timeZone: string;
  /**
   * Work that is done before the program ends by Ctrl-C, SIGTERM, or the end of its terminal; the
   * function returned takes it back.
   */
  readonly atInterrupt: (work: () => Promise<void>) => () => void;
  /** A command to type next, with the --rings that is in force: `next('plan cities')`. */
  readonly next: (command: string) => string;
}

export interface Answer {
  /** The one document of --json. Keys are stable: added to, never renamed. */
  readonly json: unknown;
  /** The same for people. */
  readonly lines: readonly string[];
  /** The lines quote commands as somebody typed them: none is given the --rings that is in force. */
  readonly quotes?: boolean;
  /** The command to type next, from Context.next; the last line for people. */
  readonly next?: string;
  /**
   * 1 when the answer is no, 4 when servers were not reached, 5 when they refused, 6 when what is
   * left waits for moves that somebody paused.
   */
  readonly exit?: number;
}
