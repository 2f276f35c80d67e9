// How fresh a server's ring is, by the last beacon it was given. Pure.
import type { Beacon } from '@ringwright/ring/trust/beacon';

export interface Freshness {
  /**
   * none: no beacon yet. fresh: the ring of the beacon is active here, or one of a later epoch or
   * version. behind: the beacon names another ring, of the active version or a later one, or of a
   * later epoch. expired: the beacon has run out, so the server may be cut off from newer rings.
   */
  readonly state: 'none' | 'fresh' | 'behind' | 'expired';
  readonly version: number | null;
  /** Milliseconds since the beacon was issued, and until it expires (negative: it has expired). */
  readonly ageMs: number | null;
  readonly leftMs: number | null;
}

/** `active`: its epoch is null if the ring is not signed. */
export function freshnessOf(
  beacon: Beacon | null,
  active: { readonly epoch: number | null; readonly version: number; readonly id: string },
  nowMs: number,
): Freshness {
  if (beacon === null) return { state: 'none', version: null, ageMs: null, leftMs: null };
  const { version, issuedMs, expiresMs } = beacon;
  const state = ((): Freshness['state'] => {
    if (nowMs >= expiresMs) return 'expired';
    if (active.id === beacon.id) return 'fresh';
    // Versions count within one epoch: those of the next epoch may begin below the present ones.
    const ahead = (active.epoch ?? 0) - beacon.epoch || active.version - version;
    return ahead > 0 ? 'fresh' : 'behind';
  })();
  return { state, version, ageMs: nowMs - issuedMs, leftMs: expiresMs - nowMs };
}
