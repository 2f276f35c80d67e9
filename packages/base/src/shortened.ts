// Shortens text from elsewhere so that it can be shown.
import { wordCharactersMax } from './limits-commands.ts';
import { errorCharactersMax } from './limits-wire.ts';

/**
 * Returns at most the first `charactersMax` characters; the last one then shows that the text was
 * cut.
 */
export function shortened(text: string, charactersMax = errorCharactersMax): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}

/** Shortens each word to at most wordCharactersMax characters: for names that somebody typed. */
export function shortenedWords(text: string): string {
  return text.replaceAll(/\S+/g, (word) => shortened(word, wordCharactersMax));
}
