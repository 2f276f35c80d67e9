// The session token of HTTP requests and answers: one header, sent back as it came. Pure.
import type { IncomingHttpHeaders } from 'node:http';
import {
  advanceSession,
  formatSessionToken,
  parseSessionToken,
  type SessionToken,
} from '@ringwright/base/session-token';
import type { Stamp } from '@ringwright/base/stamp';
import type { Consistency } from '../coordinate/consistency.ts';

export const sessionHeader = 'x-ringwright-session';

/** Throws SESSION_INVALID. */
export function sessionOf(headers: IncomingHttpHeaders): SessionToken | null {
  const text = headers[sessionHeader];
  return text === undefined ? null : parseSessionToken(String(text));
}

/** The header with which the client goes on; none as long as its session has seen nothing. */
export function nextSession(
  session: SessionToken | null,
  seen: Stamp | null,
  consistency: Consistency,
): Readonly<Record<string, string>> {
  const next = advanceSession(session, seen, consistency);
  return next === null ? {} : { [sessionHeader]: formatSessionToken(next) };
}
