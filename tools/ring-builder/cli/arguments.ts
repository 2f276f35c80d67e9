// Typed reading of arguments: all is text until it is asked for as something else. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { shortened } from '@ringwright/base/shortened';
import { describeRange, type NumberName, type NumberRange, numberRanges } from './number-ranges.ts';

export type Arguments = Readonly<Record<string, unknown>>;

/** yargs loses a lone `-`; this word stands in for it. No argument can hold a NUL. */
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

/** One of `words`. Throws USAGE. */
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
 * Decimal notation only: no hex, no blanks, no Infinity. `what` it is, as people know it; default:
 * the option of that name. Throws USAGE for what is no number, VALUE_OUT_OF_RANGE.
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

/** Without a hint the help of the command is one (print-error.ts). */
export function usage(message: string, hint?: string): CodedError {
  return new CodedError('USAGE', message, { hint });
}
