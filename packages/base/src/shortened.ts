// A text of somebody else's, short enough to be shown.
import { errorCharactersMax } from './limits-wire.ts';

/** A text with its first `charactersMax` characters at the most; the last then says that it was cut. */
export function shortened(text: string, charactersMax = errorCharactersMax): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1)}…`;
}
