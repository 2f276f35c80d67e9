// Typed reading of arguments: all is text until it is asked for as something else. Pure.
import { CodedError } from '@ringwright/base/coded-error';

export type Arguments = Readonly<Record<string, unknown>>;

/** yargs loses a lone `-`; this word stands in for it. No argument can hold a NUL. */
const STDIN_WORD = '\0stdin';

export function hideLoneDashes(words: readonly string[]): string[] {
  const end = words.indexOf('--');
  return words.map((word, index) => (word === '-' && (end < 0 || index < end) ? STDIN_WORD : word));
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

export function texts(args: Arguments, name: string): string[] {
  const value = args[name] ?? [];
  return (Array.isArray(value) ? value : [value]).map(shown);
}

export function flag(args: Arguments, name: string): boolean {
  return args[name] === true;
}

export function optionalNumber(args: Arguments, name: string): number | undefined {
  const value = optionalText(args, name);
  return value === undefined ? undefined : parseNumber(value, `--${name}`);
}

/**
 * Decimal notation only: no hex, no blanks, no Infinity. Ranges are for those who know the limit.
 */
export function parseNumber(value: string, name: string): number {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(value)) return Number(value);
  throw usage(`${name} ${JSON.stringify(value)} is not a number`);
}

export function usage(message: string, hint?: string): CodedError {
  return new CodedError('USAGE', message, {
    hint: hint ?? 'ring-builder --help, or ring-builder COMMAND --help',
  });
}
