// Decides whether this server may drop data under its ring: not while it cannot know that the ring
// is the right and the newest one. Serving and copying go on. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { Freshness } from '../trust/freshness.ts';
import type { RingFork } from './ring-forks.ts';

/**
 * Throws RING_FORK under an alarm, and BEACON_EXPIRED if the beacon has expired or names a version
 * that is not active here. If no beacon was ever sent, nothing is held up. The message names the
 * command too, because a drain shows only the message.
 */
export function requireDropsAllowed(
  ring: string,
  { alarm, freshness }: { readonly alarm: RingFork | null; readonly freshness: Freshness },
): void {
  if (alarm !== null) {
    const twice = `version ${alarm.version} of ring '${ring}' exists twice`;
    const message = `nothing is dropped: ${twice} (ring-builder settle ${ring} -m REASON)`;
    throw new CodedError('RING_FORK', message, {
      hint: `in the folder with the right history: ring-builder settle ${ring} -m REASON`,
      details: { alarm },
    });
  }
  if (freshness.state !== 'expired' && freshness.state !== 'behind') return;
  const why =
    freshness.state === 'expired'
      ? `the beacon of ring '${ring}' expired ${Math.round(-(freshness.leftMs ?? 0) / 1_000)} s ago`
      : `a beacon names version ${freshness.version} of ring '${ring}', which is not active here`;
  const message = `nothing is dropped: ${why} (ring-builder beacon ${ring})`;
  throw new CodedError('BEACON_EXPIRED', message, {
    hint: `ring-builder beacon ${ring}; push a newer version first`,
    details: { ...freshness },
  });
}
