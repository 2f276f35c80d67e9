// What a request for records says in its URL, and in the header of its session. Pure.
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
import type { Stamp } from '@ringwright/base/stamp';
import { keyOfText } from '@ringwright/ring/partitioner/key-text';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';

/** Of a name that is not known, shown. */
const NAME_CHARACTERS = 50;

/**
 * The key bytes of a URL path part, which is ASCII: Node refuses other requests. Percent-encoded,
 * `/` as it is. Throws KEY_INVALID for a bad escape, an empty or a too long key.
 */
export function keyOfPath(part: string): Uint8Array {
  const key = keyOfText(part);
  checkKey(key);
  return key;
}

/**
 * Names are as they are typed, not escaped. Throws USAGE for another one: it would be left out
 * unseen, and a record with `?tll=60` stay for ever. So would one of two that have the same name.
 */
export function knownQuery(query: string, names: readonly string[]): URLSearchParams {
  const seen = new Set<string>();
  for (const part of query.split('&')) {
    if (part === '') continue;
    const [name = ''] = part.split('=', 1);
    const shown = shortened(name, NAME_CHARACTERS);
    if (!names.includes(name)) {
      const hint = `there are: ${names.join(', ')}`;
      throw new CodedError('USAGE', `there is no parameter ${shown} here`, { hint });
    }
    if (seen.has(name)) {
      const message = `the parameter ${shown} is given more than once`;
      throw new CodedError('USAGE', message, { hint: 'give it once' });
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

/** The header with which the client goes on; none as long as its session has seen nothing. */
export function nextSession(
  session: SessionToken | null,
  seen: Stamp | null,
  consistency: ConsistencyLevel,
): Readonly<Record<string, string>> {
  const next = advanceSession(session, seen, consistency);
  return next === null ? {} : { [sessionHeader]: formatSessionToken(next) };
}
