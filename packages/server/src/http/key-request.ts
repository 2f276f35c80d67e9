// What a request for records says in its URL and in its session header. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import { checkKey } from '@ringwright/base/check-key';
import { CodedError } from '@ringwright/base/coded-error';
import {
  advanceSession,
  formatSessionToken,
  parseSessionToken,
  type SessionToken,
  sessionHeader,
} from '@ringwright/base/session-token';
import { shortened } from '@ringwright/base/shortened';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';
import { keyOfText } from '@ringwright/ring/partitioner/key-text';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';

/** Maximum length of an unknown name in a message. */
const NAME_CHARACTERS = 50;

/**
 * Returns the key bytes of a part of a URL path. The part is ASCII, since Node refuses other
 * requests. It is percent-encoded, but `/` may stand as it is. Throws KEY_INVALID for a bad escape,
 * and for an empty or too long key.
 */
export function keyOfPath(part: string): Uint8Array {
  const key = keyOfText(part);
  checkKey(key);
  return key;
}

/**
 * Parses a query with these parameters; names must not be escaped. Throws USAGE for an unknown
 * parameter, since it would be ignored unnoticed and a record with `?tll=60` would stay forever.
 * Throws it for a repeated one too, because one of the two would be ignored.
 */
export function knownQuery(query: string, names: readonly string[]): URLSearchParams {
  const seen = new Set<string>();
  for (const part of query.split('&')) {
    if (part === '') continue;
    const [name = ''] = part.split('=', 1);
    const shortName = shortened(name, NAME_CHARACTERS);
    if (!names.includes(name)) {
      const hint = `the parameters are: ${names.join(', ')}`;
      throw new CodedError('USAGE', `unknown parameter ${shortName}`, { hint });
    }
    if (seen.has(name)) {
      const message = `the parameter ${shortName} occurs more than once`;
      throw new CodedError('USAGE', message, { hint: 'send it once' });
    }
    seen.add(name);
  }
  return new URLSearchParams(query);
}

/** Throws SESSION_INVALID. */
export function sessionOf(headers: IncomingHttpHeaders): SessionToken | null {
  const text = headers[sessionHeader];
  return text === undefined ? null : parseSessionToken(String(text));
}

/**
 * Returns the session header for the client's next request; none while its session has seen
 * nothing.
 */
export function nextSession(
  session: SessionToken | null,
  stamp: Stamp | null,
  consistency: ConsistencyLevel,
): Readonly<Record<string, string>> {
  const next = advanceSession(session, stamp, consistency);
  return next === null ? {} : { [sessionHeader]: formatSessionToken(next) };
}

/** Equal ones mean equal bytes. */
export function etagOf(stamp: Stamp): string {
  return `"${formatStamp(stamp)}"`;
}
