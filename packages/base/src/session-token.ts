// A session token: the highest stamp a session has seen, and whether all of it was at quorum. Pure.
import { CodedError } from './coded-error.ts';
import { compareStamps, formatStamp, parseStamp, type Stamp } from './stamp.ts';

export interface SessionToken extends Stamp {
  /**
   * True when the session wrote or read at level one: then one slot alone may hold what it has
   * seen. Otherwise every quorum meets it.
   */
  readonly weak: boolean;
}

/** Of HTTP: an answer has it, and the next request sends it back as it came. */
export const sessionHeader = 'x-ringwright-session';

const WEAK_MARK = '.one';

/** Text form: a stamp, with `.one` behind it for a weak session. */
export function formatSessionToken(token: SessionToken): string {
  return formatStamp(token) + (token.weak ? WEAK_MARK : '');
}

/** The token of a text; throws SESSION_INVALID. */
export function parseSessionToken(text: string): SessionToken {
  const weak = text.endsWith(WEAK_MARK);
  const stamp = parseStamp(weak ? text.slice(0, -WEAK_MARK.length) : text);
  if (stamp !== null) return { ...stamp, weak };
  throw new CodedError(
    'SESSION_INVALID',
    `${JSON.stringify(text.slice(0, 64))} is no session token`,
    {
      hint: 'send back the token of the last answer as it was',
    },
  );
}

/** The token after the session has seen one more stamp; null only when it has seen none at all. */
export function advanceSession(
  token: SessionToken | null,
  seen: Stamp | null,
  level: 'one' | 'quorum' | 'all' | 'linearizable',
): SessionToken | null {
  if (seen === null) return token;
  const weak = level === 'one' || (token?.weak ?? false);
  const { ms, tie } = token !== null && compareStamps(token, seen) > 0 ? token : seen;
  return { ms, tie, weak };
}
