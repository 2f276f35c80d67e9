// How fresh a server's ring is, by the last beacon it was given. Pure.
import type { Beacon } from '@ringwright/ring/trust/beacon';

export interface Freshness {
  /**
   * none: no beacon yet. fresh: its version is active here. behind: a newer version exists than was
   * ever given to this server. expired: nobody vouches for anything any more; perhaps frozen.
   */
  readonly state: 'none' | 'fresh' | 'behind' | 'expired';
  readonly version: number | null;
  /** Milliseconds since the beacon was issued, and until it runs out (negative: it has). */
  readonly ageMs: number | null;
  readonly leftMs: number | null;
}

export function freshnessOf(
  beacon: Beacon | null,
  active: { readonly version: number; readonly id: string },
  nowMs: number,
): Freshness {
  if (beacon === null) return { state: 'none', version: null, ageMs: null, leftMs: null };
  const { version, issuedMs, expiresMs } = beacon;
  const state = ((): Freshness['state'] => {
    if (nowMs >= expiresMs) return 'expired';
    // A version above the beacon's is news that the beacon does not know yet.
    const same = active.id === beacon.id;
    return same || active.version > version ? 'fresh' : 'behind';
  })();
  return { state, version, ageMs: nowMs - issuedMs, leftMs: expiresMs - nowMs };
}
