// The forms of an option: a text, a list of texts, a flag. yargs guesses no numbers: arguments.ts
// reads them from texts. Pure.
import type { Options } from 'yargs';

export function textOption(describe: string, more: Options = {}): Options {
  return { type: 'string', requiresArg: true, ...more, describe };
}

/** Several words after it, or the option several times. */
export function listOption(describe: string): Options {
  return textOption(describe, { array: true });
}

export function flagOption(describe: string): Options {
  return { type: 'boolean', describe };
}
