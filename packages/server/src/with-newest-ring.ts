// What a coordinator works with, and how it follows rings that change under a request.
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { ringRetriesMax } from '@ringwright/base/limits';
import type { Stamp } from '@ringwright/base/stamp';
import type { Turns } from '@ringwright/partition/turns';
import type { ActiveRing } from './active-ring.ts';
import type { DeviceCaller } from './device-caller.ts';
import type { RingRequests } from './ring-requests.ts';
import type { Rings } from './rings.ts';
import { OutdatedRing } from './spread-record.ts';

export interface CoordinatorPorts {
  readonly rings: Rings;
  readonly requests: RingRequests;
  readonly devices: DeviceCaller;
  readonly clock: HybridClock;
  /** A stamp for a write of a key: prove-clock.ts, stamp-issuer.ts. */
  readonly issueStamp: (active: ActiveRing, key: Uint8Array) => Promise<Stamp>;
  /** Fetches the newer ring from the device that refused for an old one. */
  readonly catchUp: (active: ActiveRing, device: number) => Promise<void>;
  /** Rounds about one key that begin here wait for each other. */
  readonly turns: Turns;
  /** Waits a while, by chance, before a round is tried again; longer with every try. */
  readonly backOff: (tries: number) => Promise<void>;
}

/**
 * Runs an attempt with the active ring, again with a newer one as long as devices refuse for an old
 * ring.
 */
export async function withNewestRing<T>(
  ports: CoordinatorPorts,
  keyspace: string,
  attempt: (active: ActiveRing) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const active = ports.rings.get(keyspace);
    const madeWith = { keyspace, ringVersion: active.ring.version };
    ports.requests.begin('coordinated', madeWith);
    try {
      return await attempt(active);
    } catch (error) {
      if (!(error instanceof OutdatedRing) || tries === ringRetriesMax) throw error;
      await reachNewer(ports, active, error.device);
    } finally {
      ports.requests.end('coordinated', madeWith);
    }
  }
}

/** Fetches the newer ring, unless it came another way meanwhile. */
async function reachNewer(
  { rings, catchUp }: CoordinatorPorts,
  active: ActiveRing,
  device: number,
): Promise<void> {
  const isNewer = (): boolean => rings.get(active.ring.keyspace).ring.version > active.ring.version;
  if (isNewer()) return;
  try {
    await catchUp(active, device);
  } catch (error) {
    if (!isNewer()) throw error;
  }
}
