// Commands to type, also inside a sentence such as a hint, with the ring, the --rings and what was
// given for servers, as they were typed. Below the tool nobody knows how it was started, and
// without them the command could not be typed. Pure.
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
  /** ` --ca FILE` and the like; empty: none was typed. Commands that ask servers get them. */
  readonly serverOptions: string;
  /** What RING stands for; undefined: the command names none. */
  readonly ring: string | undefined;
}

/** A whole command, without `ring-builder`: the options stand at its end. */
export function nameCommand(typed: string, naming: Naming): string {
  const [verb = ''] = typed.split(' ', 1);
  return `ring-builder ${typed}${optionsOf(verb, ` ${typed} `, naming)}`;
}

/**
 * The options follow the verb, since no program can tell where the command ends in a sentence;
 * commands that name a folder already keep it.
 */
export function nameRings(text: string, naming: Naming): string {
  const { ring } = naming;
  return text.replaceAll(command, (_, verb: string, words: string) => {
    const rest = ring === undefined ? words : words.replace(/^ RING\b/, () => ` ${ring}`);
    return `ring-builder ${verb}${optionsOf(verb, words, naming)}${rest}`;
  });
}

function optionsOf(verb: string, words: string, { ringsOption, serverOptions }: Naming): string {
  // restore needs nothing of servers but what they give to anybody, with --from IP:PORT.
  const asks =
    verb === 'restore' || verbs.some(({ name, needs }) => name === verb && needs !== 'folder');
  const forServers = asks && !words.includes(serverOptions) ? serverOptions : '';
  return `${words.includes(' --rings ') ? '' : ringsOption}${forServers}`;
}
