// Reads that are never behind what their session has seen, whichever server coordinates them.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { formatSessionToken, type SessionToken } from '@ringwright/base/session-token';
import { compareStamps } from '@ringwright/base/stamp';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import type { WireContent } from '../replica/wire-record.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { coordinateRead, type KeyRequest } from './coordinate.ts';
import type { CoordinatorPorts } from './with-newest-ring.ts';

export interface SessionPorts {
  readonly coordinator: CoordinatorPorts;
  readonly metrics: Pick<Metrics, 'sessionEscalations'>;
}

/**
 * Reads a key. A record at least as new as the session needs no proof. An older one may be the
 * newest there is, or this read may have missed what the session saw. Then the key is read again
 * from slots that cannot all have missed it: a quorum if the session used quorum operations only,
 * else every slot. Throws SESSION_BEHIND when too few of those answer.
 */
export async function readInSession(
  { coordinator, metrics }: SessionPorts,
  request: KeyRequest,
): Promise<WireContent | null> {
  const { session = null, consistency } = request;
  const record = await coordinateRead(coordinator, request);
  if (session === null || (record !== null && compareStamps(record, session) >= 0)) return record;
  const sureLevel = surelySees(session);
  if (strength(consistency) >= strength(sureLevel)) return record;
  metrics.sessionEscalations.inc();
  try {
    return await coordinateRead(coordinator, { ...request, consistency: sureLevel });
  } catch (error) {
    if (!hasCode(error, 'NOT_ENOUGH_REPLICAS')) throw error;
    const token = formatSessionToken(session);
    const message = `session ${token} needs a read at ${sureLevel}: ${error.message}`;
    const hint = 'try again when the missing devices are back, or read without the session';
    throw new CodedError('SESSION_BEHIND', message, { hint, details: error.details, cause: error });
  }
}

/** Returns the level at which a read is sure to see all that the session saw. */
function surelySees({ weak }: SessionToken): ConsistencyLevel {
  return weak ? 'all' : 'quorum';
}

function strength(level: ConsistencyLevel): number {
  return ['one', 'quorum', 'all'].indexOf(level === 'linearizable' ? 'quorum' : level);
}
