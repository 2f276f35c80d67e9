// Commands inside a sentence, such as a hint, with the ring and the --rings that were typed: below
// the tool nobody knows how it was started, and without them the command could not be typed. Pure.
import { verbs } from './verbs.ts';

const names = verbs.map(({ name }) => name).join('|');
/** A command, up to the next one or the end of the line; its help needs no folder. */
const command = new RegExp(
  `\\bring-builder (${names})(?![\\w-])(?! --help)((?:(?!\\bring-builder ).)*)`,
  'g',
);

/** As the command was typed. */
export interface Naming {
  /** ` --rings DIR`; empty where the default is in force. */
  readonly ringsOption: string;
  /** What RING stands for; undefined: the command names none. */
  readonly ring: string | undefined;
}

/**
 * `--rings` follows the verb, since no program can tell where the command ends in a sentence;
 * commands that name a folder already keep it.
 */
export function nameRings(text: string, { ringsOption, ring }: Naming): string {
  return text.replaceAll(command, (_, verb: string, words: string) => {
    const rest = ring === undefined ? words : words.replace(/^ RING\b/, () => ` ${ring}`);
    return `ring-builder ${verb}${words.includes(' --rings ') ? '' : ringsOption}${rest}`;
  });
}
