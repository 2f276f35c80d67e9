// Computes what can stand at the end of an unfinished command line. Pure.
import type { Options } from 'yargs';

export interface Candidate {
  readonly word: string;
  /** Description, for shells that show one. */
  readonly about: string;
}

/** The words before the cursor, sorted into options with values and positionals in order. */
interface ReadArgs {
  readonly optionValues: ReadonlyMap<string, string>;
  readonly positionals: readonly string[];
  /** The option whose value is being typed. */
  readonly option: string | null;
  /** The word being typed; for --option=value, the value. */
  readonly current: string;
}

/**
 * Returns a word from bash without quotes and backslashes, as bash would read it. The last quote
 * may still be open. Nothing is expanded.
 */
export function unquoted(word: string): string {
  return word.replaceAll(
    /'([^']*)(?:'|$)|"((?:\\.|[^"\\])*)(?:"|$)|\\(.)/gs,
    (...[, single, double, escaped]: (string | undefined)[]) =>
      single ?? double?.replaceAll(/\\([$`"\\])/g, '$1') ?? escaped ?? '',
  );
}

/** Joins words that bash broke at `=` and `:`. Other shells do not break them. */
export function joinBroken(args: readonly string[]): string[] {
  const joined: string[] = [];
  let isOpen = false;
  for (const word of args) {
    const isBreak = word === '=' || word === ':';
    if ((isBreak || isOpen) && joined.length > 0) joined.push(`${joined.pop()}${word}`);
    else joined.push(word);
    isOpen = isBreak;
  }
  return joined;
}

export function readArgs(
  args: readonly string[],
  options: Readonly<Record<string, Options>>,
): ReadArgs {
  const optionValues = new Map<string, string>();
  const positionals: string[] = [];
  const before = args.slice(0, -1);
  let current = args.at(-1) ?? '';
  let option: string | null = null;
  for (const word of before) {
    if (option !== null) {
      optionValues.set(option, word);
      option = null;
    } else if (word.startsWith('-') && word !== '-') {
      const [name = '', value] = word.split(/=(.*)/s);
      const known = nameOf(name, options);
      if (value !== undefined && known !== null) optionValues.set(known, value);
      else if (known !== null && options[known]?.type !== 'boolean') option = known;
    } else positionals.push(word);
  }
  const [, name, value] = option === null ? (/^(--?[\w-]+)=(.*)$/s.exec(current) ?? []) : [];
  if (name !== undefined && value !== undefined) {
    option = nameOf(name, options);
    current = value;
  }
  return { optionValues, positionals, option, current };
}

function nameOf(word: string, options: Readonly<Record<string, Options>>): string | null {
  const name = word.replace(/^-+/, '');
  if (Object.hasOwn(options, name)) return name;
  return Object.keys(options).find((one) => options[one]?.alias === name) ?? null;
}

/** Returns the names of the positionals in a usage line. */
export function positionalsOf(usage: string): string[] {
  const words = usage.split(' ').slice(1);
  return words.map((word) => word.replaceAll(/[<>[\].]/g, ''));
}

/** Returns the positional name at this index of a usage line. The last one may repeat. */
export function positionalAt(usage: string, at: number): string | null {
  const names = positionalsOf(usage);
  return names[at] ?? (usage.includes('..') ? (names.at(-1) ?? null) : null);
}

export function optionCandidates(options: Readonly<Record<string, Options>>): Candidate[] {
  return Object.entries(options).map(([name, { describe }]) => {
    return { word: `--${name}`, about: typeof describe === 'string' ? describe : '' };
  });
}

export function choiceCandidates(choices: Options['choices']): Candidate[] {
  return [...(choices ?? [])].map((choice) => ({ word: String(choice), about: '' }));
}
