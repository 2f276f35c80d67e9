// Commands inside a sentence, such as a hint, with the --rings that is in force: below the tool
// nobody knows how it was started, and without it the command would look in another folder. Pure.
import { verbs } from './verbs.ts';

const names = verbs.map(({ usage }) => usage.split(' ', 1)[0]).join('|');
/** A command, up to the next one or the end of the line; its help needs no folder. */
const command = new RegExp(
  `\\bring-builder (${names})(?![\\w-])(?! --help)((?:(?!\\bring-builder ).)*)`,
  'g',
);

/**
 * `option` is ` --rings DIR`, or empty. It follows the verb, since no program can tell where the
 * command ends in a sentence; commands that name a folder already stay as they are.
 */
export function nameRings(text: string, option: string): string {
  if (option === '') return text;
  return text.replaceAll(command, (whole, verb: string, rest: string) =>
    rest.includes(' --rings ') ? whole : `ring-builder ${verb}${option}${rest}`,
  );
}
