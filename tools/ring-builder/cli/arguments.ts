// Reads arguments by type. yargs delivers text, and these functions convert it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import { describeRange, type NumberName, type NumberRange, numberRanges } from './number-ranges.ts';

/** Stands for a lone `-`, which yargs drops. No argument can contain a NUL. */
const STDIN_WORD = '\0stdin';

export function hideLoneDashes(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => (word === '-' && (end < 0 || index < end) ? STDIN_WORD : word));
}

function shown(value: unknown): string {
  return value === STDIN_WORD ? '-' : String(value);
}

/** What was typed, by the name of its option or argument. All that reads it throws USAGE. */
export class Arguments {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  optionalText(name: string): string | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    if (Array.isArray(value))
      throw usage(`--${name} was given ${value.length} times, expected once`);
    return shown(value);
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value === undefined) throw usage(`--${name} is missing`);
    return value;
  }

  /** One of `words`. */
  chosen<Word extends string>(name: string, words: readonly Word[]): Word {
    const typed = this.text(name);
    const found = words.find((one) => one === typed);
    if (found === undefined) throw usage(`${typed}: expected ${words.join(', ')}`);
    return found;
  }

  texts(name: string): string[] {
    const value = this.#values[name] ?? [];
    return (Array.isArray(value) ? value : [value]).map(shown);
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  optionalNumber(name: NumberName): number | undefined {
    const value = this.optionalText(name);
    return value === undefined ? undefined : parseNumber(value, name);
  }
}

/**
 * Parses decimal notation: no hex, no blanks, no Infinity. `what` names the value in messages;
 * default: the option of that name. Throws USAGE for text that is no number, VALUE_OUT_OF_RANGE.
 */
export function parseNumber(value: string, name: NumberName, what = `--${name}`): number {
  const range: NumberRange = numberRanges[name];
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(value);
  const number = Number(value);
  const { least, most, isWhole } = range;
  if (isNumber && number >= least && number <= most && (!isWhole || Number.isInteger(number))) {
    return number;
  }
  const typed = isNumber ? value : JSON.stringify(value);
  const message = `${what} ${shortened(typed, typedCharactersMax)} must be ${describeRange(range)}`;
  throw new CodedError(isNumber ? 'VALUE_OUT_OF_RANGE' : 'USAGE', message, {
    details: { name: what, value: shortened(value, typedCharactersMax), least, most },
  });
}

/** Without a hint, print-error.ts adds the command that prints the help. */
export function usage(message: string, hint?: string): CodedError {
  return new CodedError('USAGE', message, { hint });
}
