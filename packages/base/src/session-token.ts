// A session token: the highest stamp a session has seen, and whether all of it was at quorum. Pure.
import { CodedError } from './coded-error.ts';
import { compareStamps, formatStamp, parseStamp, type Stamp } from './stamp.ts';

export interface SessionToken extends Stamp {
  /**
   * True when the session has written or read at level one: a single slot may then hold what it has
   * seen. Otherwise every quorum includes it.
   */
  readonly weak: boolean;
}

/**
 * HTTP header: the server sets it in each response, and the client returns it unchanged in its next
 * request.
 */
export const sessionHeader = 'x-ringwright-session';

const WEAK_MARK = '.one';

/** Text form: a stamp, followed by `.one` for a weak session. */
export function formatSessionToken(token: SessionToken): string {
  return formatStamp(token) + (token.weak ? WEAK_MARK : '');
}

/** Parses a token; throws SESSION_INVALID. */
export function parseSessionToken(text: string): SessionToken {
  const weak = text.endsWith(WEAK_MARK);
  const stamp = parseStamp(weak ? text.slice(0, -WEAK_MARK.length) : text);
  if (stamp !== null) return { ...stamp, weak };
  const message = `${JSON.stringify(text.slice(0, 64))} is not a session token`;
  throw new CodedError('SESSION_INVALID', message, {
    hint: 'send back the token of the last answer unchanged',
  });
}

/**
 * Returns the token after the session has seen one more stamp; null only if it has seen none at
 * all.
 */
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
