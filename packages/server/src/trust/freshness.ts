// How fresh a server's ring is, by the last beacon it was given. Pure.
import type { Beacon } from '@ringwright/ring/trust/beacon';

export interface Freshness {
  /**
   * none: no beacon yet. fresh: the ring of the beacon is active here, or a later version. behind:
   * the beacon names a ring, of the active version or a later one, that is not active here.
   * expired: the beacon has run out, so the server may be cut off from newer rings.
   */
  readonly state: 'none' | 'fresh' | 'behind' | 'expired';
  readonly version: number | null;
  /** Milliseconds since the beacon was issued, and until it expires (negative: it has expired). */
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
    // A version above that of the beacon is newer than the beacon.
    const same = active.id === beacon.id;
    return same || active.version > version ? 'fresh' : 'behind';
  })();
  return { state, version, ageMs: nowMs - issuedMs, leftMs: expiresMs - nowMs };
}
