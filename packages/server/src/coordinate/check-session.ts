// Checks the session token of a write against the clock of the server that stamps the write. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax } from '@ringwright/base/limits';
import {
  formatSessionToken,
  type SessionToken,
  sessionHeader,
} from '@ringwright/base/session-token';

/**
 * Moves the clock to what the session has seen, so the next stamp lies above it. Throws CLOCK_AHEAD
 * for a token so far ahead that no clock near this one can have made it. Reads skip this check:
 * they are correct with any token, and a server whose own clock is behind can still serve them.
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
