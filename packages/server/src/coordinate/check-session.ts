// The session token of a write, against the clock of the server that is to stamp above it. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax } from '@ringwright/base/limits';
import {
  formatSessionToken,
  type SessionToken,
  sessionHeader,
} from '@ringwright/base/session-token';

/**
 * Learns what the session has seen: the next stamp lies above it. Throws CLOCK_AHEAD for a token
 * that no clock near this one can have made. Reads do not ask: they are right with any token, and
 * a server whose own clock is behind may give them.
 */
export function checkSession(clock: HybridClock, session: SessionToken): void {
  const aheadMs = clock.aheadMs(session);
  if (aheadMs <= clockAheadMsMax) {
    clock.observe(session);
    return;
  }
  const token = formatSessionToken(session);
  const what = `the session token ${token} is ${aheadMs} ms ahead`;
  const message = `${what}, ${clockAheadMsMax} is the most`;
  const hint =
    'send the token of the last answer as it was (in the client package: the option session); ' +
    'if it was, the clock of this server, or of the one that gave it, is wrong';
  const details = { header: sessionHeader, token, aheadMs, outcome: 'rejected' };
  throw new CodedError('CLOCK_AHEAD', message, { hint, details });
}
