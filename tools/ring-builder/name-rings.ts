// Completes the commands that messages and hints suggest: inserts the ring, --rings and the server
// options of the command that was typed. Lower layers do not know these options, and without them a
// suggested command would not work. Pure.
import { commands } from './command-groups.ts';

const names = commands.map(({ name }) => name).join('|');
/** Matches a command up to the next one or the end of the line. `--help` needs no folder. */
const command = new RegExp(
  `\\bring-builder (${names})(?![\\w-])(?! --help)((?:(?!\\bring-builder ).)*)`,
  'g',
);

/** Taken from the command that the operator typed. */
export interface Naming {
  /** ` --rings DIR`; empty for the default folder. */
  readonly ringsOption: string;
  /** Options such as ` --ca FILE`, for commands that ask servers; empty if none was typed. */
  readonly serverOptions: string;
  /** Replaces the word RING; undefined if the command names no ring. */
  readonly ring: string | undefined;
}

/** Completes a whole command, without its `ring-builder`: appends the options at its end. */
export function nameCommand(typed: string, naming: Naming): string {
  const [word = ''] = typed.split(' ', 1);
  return `ring-builder ${typed}${optionsOf(word, ` ${typed} `, naming)}`;
}

/**
 * Completes every command in a sentence. The options directly follow its first word, since the end
 * of a command cannot be found in a sentence. A command that names a folder keeps it.
 */
export function nameRings(text: string, naming: Naming): string {
  const { ring } = naming;
  return text.replaceAll(command, (_, word: string, words: string) => {
    const rest = ring === undefined ? words : words.replace(/^ RING\b/, () => ` ${ring}`);
    return `ring-builder ${word}${optionsOf(word, words, naming)}${rest}`;
  });
}

function optionsOf(word: string, words: string, { ringsOption, serverOptions }: Naming): string {
  // restore reads from servers only what they give to anyone (with --from IP:PORT).
  const asks =
    word === 'restore' || commands.some(({ name, needs }) => name === word && needs !== 'folder');
  const forServers = asks && !words.includes(serverOptions) ? serverOptions : '';
  return `${words.includes(' --rings ') ? '' : ringsOption}${forServers}`;
}
