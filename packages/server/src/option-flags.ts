// The command-line flags of a server, and the options made from them, both derived from the table
// of options. Pure.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { issueSentence } from '@ringwright/ring/issue-sentence';
import { z } from 'zod';
import { type ServerOptions, serverOptionsSchema } from './options.ts';

/** A flag in the form that yargs takes. Its value is a text, a list of texts, or a switch. */
interface OptionFlag {
  readonly type: 'string' | 'boolean';
  readonly describe: string;
  readonly array?: true;
  readonly requiresArg?: true;
  readonly demandOption?: true;
  readonly choices?: readonly string[];
  readonly defaultDescription?: string;
}

/** Has no flag here: the flags for it are named by the program that reads them. */
const withoutFlag = 'storeAccess';

/** Flags by the name that is typed, without dashes: `redis-port`. */
export const optionFlags: Readonly<Record<string, OptionFlag>> = Object.fromEntries(
  Object.entries(serverOptionsSchema.shape)
    .filter(([name]) => name !== withoutFlag)
    .map(([name, field]) => [typedName(name), flagOf(field)]),
);

/**
 * Makes options from `values`, keyed by flag name; absent values count as not typed. Throws USAGE,
 * which names the option as it was typed, its value, and what was wanted.
 */
export function optionsOf(
  values: Readonly<Record<string, unknown>>,
  { storeAccess }: Pick<ServerOptions, 'storeAccess'>,
): ServerOptions {
  const entries = Object.keys(serverOptionsSchema.shape).flatMap((name) => {
    const value = values[typedName(name)];
    return value === undefined || name === withoutFlag ? [] : [[name, value] as const];
  });
  for (const [name, value] of entries) requireValue(typedName(name), value);
  const parsed = serverOptionsSchema.safeParse({ ...Object.fromEntries(entries), storeAccess });
  if (parsed.success) return parsed.data;
  const issue = must(parsed.error.issues[0], 'what is refused has an issue');
  const [name, index] = issue.path;
  const option = typedName(String(name));
  const value = values[option];
  const refusedValue = Array.isArray(value) && typeof index === 'number' ? value[index] : value;
  throw refusal(`--${option} ${String(refusedValue)}: ${issueSentence(issue)}`);
}

/**
 * The words to type on a command line for these options: those that differ from the default, in the
 * order of the table.
 */
export function wordsOf(options: Partial<ServerOptions>): string[] {
  const { storeAccess = {}, ...plain } = options;
  const values: Readonly<Record<string, unknown>> = plain;
  const optionWords = Object.entries(serverOptionsSchema.shape).flatMap(([name, field]) => {
    const fallback = field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
    return values[name] === fallback ? [] : wordsFor(typedName(name), values[name]);
  });
  // The user comes from the environment alone.
  const { user: _, ...files } = storeAccess;
  const storeWords = Object.entries(files).flatMap(([name, file]) =>
    wordsFor(`store-${typedName(name)}`, file),
  );
  return [...optionWords, ...storeWords];
}

function wordsFor(option: string, value: unknown): string[] {
  if (value === true) return [`--${option}`];
  if (Array.isArray(value)) return value.flatMap((item) => wordsFor(option, item));
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText ? [`--${option}`, `${value}`] : [];
}

/** An empty value usually comes from an unset variable in a script. */
function requireValue(option: string, value: unknown): void {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (values.includes('')) throw refusal(`--${option} needs a value`);
  if (values.length > 1 && optionFlags[option]?.array !== true) {
    throw refusal(`--${option} occurs ${values.length} times, allowed is once`);
  }
}

/** The USAGE error for wrong command-line input. */
export function refusal(message: string): CodedError {
  return new CodedError('USAGE', message, { hint: 'ring-server --help' });
}

function typedName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function flagOf(field: z.ZodType): OptionFlag {
  const inner = unwrapped(field);
  const fallback = field instanceof z.ZodDefault ? field.def.defaultValue : undefined;
  const isShown = typeof fallback === 'string' || typeof fallback === 'number';
  const describe = field.description ?? '';
  if (inner instanceof z.ZodBoolean) return { type: 'boolean', describe };
  return {
    type: 'string',
    requiresArg: true,
    describe,
    ...(inner instanceof z.ZodArray && { array: true }),
    ...(inner instanceof z.ZodEnum && { choices: inner.options.map(String) }),
    ...(isShown && { defaultDescription: `${fallback}` }),
    ...(!field.safeParse(undefined).success && { demandOption: true }),
  };
}

function unwrapped(field: z.ZodType): unknown {
  return field instanceof z.ZodDefault || field instanceof z.ZodOptional
    ? unwrapped(field.unwrap() as z.ZodType)
    : field;
}
