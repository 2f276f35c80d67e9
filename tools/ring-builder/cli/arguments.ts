// Reads arguments by type. yargs delivers text, and these functions convert it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import { describeRange, type NumberName, type NumberRange, numberRanges } from './number-ranges.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** Stands for a lone `-`, which yargs drops. No argument can contain a NUL. */
const STDIN_WORD = '\0stdin';

export function hideLoneDashes(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => (word === '-' && (end < 0 || index < end) ? STDIN_WORD : word));
}

function shown(value: unknown): string {
  return value === STDIN_WORD ? '-' : String(value);
}

export function optionalText(args: Arguments, name: string): string | undefined {
  const value = args[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw usage(`--${name} is given ${value.length} times, wanted once`);
  return shown(value);
}

export function text(args: Arguments, name: string): string {
  const value = optionalText(args, name);
  if (value === undefined) throw usage(`--${name} is missing`);
  return value;
}

/** Returns the argument if it is one of `words`. Throws USAGE. */
export function chosen<Word extends string>(
  args: Arguments,
  name: string,
  words: readonly Word[],
): Word {
  const typed = text(args, name);
  const found = words.find((one) => one === typed);
  if (found === undefined) throw usage(`${typed}: wanted ${words.join(', ')}`);
  return found;
}

export function texts(args: Arguments, name: string): string[] {
  const value = args[name] ?? [];
  return (Array.isArray(value) ? value : [value]).map(shown);
}

export function flag(args: Arguments, name: string): boolean {
  return args[name] === true;
}

export function optionalNumber(args: Arguments, name: NumberName): number | undefined {
  const value = optionalText(args, name);
  return value === undefined ? undefined : parseNumber(value, name);
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
  const message = `${what} ${shortened(typed, typedCharactersMax)}: wanted ${describeRange(range)}`;
  throw new CodedError(isNumber ? 'VALUE_OUT_OF_RANGE' : 'USAGE', message, {
    details: { name: what, value: shortened(value, typedCharactersMax), least, most },
  });
}

/** Without a hint, print-error.ts adds the command that prints the help. */
export function usage(message: string, hint?: string): CodedError {
  return new CodedError('USAGE', message, { hint });
}
