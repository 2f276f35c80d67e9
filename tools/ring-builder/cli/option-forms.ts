// The forms of an option: text, list of texts, flag. yargs is kept from guessing numbers;
// arguments.ts parses them from text. Pure.
import type { Options } from 'yargs';

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
