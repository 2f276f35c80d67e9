// A text of somebody else's, short enough to be shown.
import { wordCharactersMax } from './limits-commands.ts';
import { errorCharactersMax } from './limits-wire.ts';

/** A text with its first `charactersMax` characters at the most; the last then says that it was cut. */
export function shortened(text: string, charactersMax = errorCharactersMax): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}

/** A text whose words have wordCharactersMax characters at the most: names that somebody typed. */
export function shortenedWords(text: string): string {
  return text.replaceAll(/\S+/g, (word) => shortened(word, wordCharactersMax));
}
