// This device as a coordinator: any server takes any request and asks the devices of the key's
// slots.
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { ringRetriesMax } from '@ringwright/base/limits';
import type { SessionToken } from '@ringwright/base/session-token';
import { compareStamps, formatStamp, type Stamp } from '@ringwright/base/stamp';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { ActiveRing } from './active-ring.ts';
import { type Consistency, slotsNeeded } from './consistency.ts';
import type { DeviceCaller } from './device-caller.ts';
import { gatherReads, type ReadAnswer, type ReadRecord } from './gather-reads.ts';
import { checkClock } from './replica.ts';
import type { RingRequests } from './ring-requests.ts';
import type { Rings } from './rings.ts';
import { tallySlots } from './slot-acks.ts';
import { OutdatedRing, spreadRecord, type WriteOutcome } from './spread-record.ts';

export interface CoordinatorPorts {
  readonly rings: Rings;
  readonly requests: RingRequests;
  readonly devices: DeviceCaller;
  readonly clock: HybridClock;
  /** A stamp for a write of this device: stamp-issuer.ts. */
  readonly issueStamp: (device: number) => Promise<Stamp>;
  /** Fetches the newer ring from the device that refused for an old one. */
  readonly catchUp: (active: ActiveRing, device: number) => Promise<void>;
}

export interface KeyRequest {
  readonly keyspace: string;
  readonly key: Uint8Array;
  readonly consistency: Consistency;
  /** What the session of the request has seen: a write is stamped above it. */
  readonly session?: SessionToken | null;
}

/**
 * Writes a value (null deletes). Resolves with the record's stamp when the level is reached.
 * Throws CLOCK_BEHIND, SUPERSEDED when a device holds something newer, RING_UNKNOWN,
 * NOT_ENOUGH_REPLICAS and what fetching a newer ring throws; `details.outcome` is then `rejected`
 * (certainly nowhere) or `unknown` (it may appear later, once, at `details.stamp`).
 */
export async function coordinateWrite(
  ports: CoordinatorPorts,
  request: KeyRequest & { readonly value: Uint8Array | null },
): Promise<Stamp> {
  const { keyspace, key, value, consistency } = request;
  if (request.session) checkClock(ports.clock, request.session);
  const stamp = await ports.issueStamp(ports.rings.get(keyspace).tieDevice);
  let earlier: WriteOutcome = 'rejected';
  // The stamp stays the same when the ring changes on the way: a retry stores the same record, not
  // a second one.
  const attempt = async (active: ActiveRing): ReturnType<typeof spreadRecord> => {
    const partition = active.partitionOf(key);
    const slots = slotsOf(active.ring, partition);
    const needed = slotsNeeded(consistency, slots.length);
    const record = { partition, key, value, ...stamp };
    try {
      return await spreadRecord(ports.devices, { active, slots, record, needed });
    } catch (error) {
      if (error instanceof OutdatedRing && error.outcome === 'unknown') earlier = 'unknown';
      throw error;
    }
  };
  const { newer } = await withNewestRing(ports, keyspace, attempt).catch((error: unknown) => {
    throw failedWrite(error, stamp, earlier);
  });
  // failpoint: coordinate.level-reached
  if (newer === null) return stamp;
  ports.clock.observe(newer);
  const details = { stamp: formatStamp(stamp), newer: formatStamp(newer) };
  const message = `a record of ${details.newer} is newer than this write of ${details.stamp}`;
  const hint = 'read the key and decide whether to write again';
  throw new CodedError('SUPERSEDED', message, { hint, details });
}

/**
 * Reads a key: its newest record, a tombstone included, or null when there is none. The session of
 * the request is not looked at: read-in-session.ts does.
 */
export function coordinateRead(
  ports: CoordinatorPorts,
  { keyspace, key, consistency }: KeyRequest,
): Promise<ReadRecord | null> {
  const attempt = async (active: ActiveRing): Promise<ReadRecord | null> => {
    const partition = active.partitionOf(key);
    const slots = slotsOf(active.ring, partition);
    const needed = slotsNeeded(consistency, slots.length);
    const answers = await gatherReads(ports.devices, { active, partition, key, slots, needed });
    const newest = newestOf(answers);
    if (newest === null) return null;
    if (consistency === 'one') return newest;
    const holders = answers
      .filter(({ record }) => record !== null && isSame(record, newest))
      .map(({ device }) => device);
    const known = new Map(holders.map((device) => [device, true]));
    if (tallySlots(slots, known, needed).acked < needed) {
      // Blocking read repair: what one read has shown, every later quorum read shows too. A slot in
      // flight counts with its joiner only: the next ring may forget the device that answered.
      const record = { partition, key, ...newest };
      // failpoint: coordinate.before-write-back
      await spreadRecord(ports.devices, { active, slots, record, needed, holders });
    }
    return newest;
  };
  return withNewestRing(ports, keyspace, attempt);
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

/** A failed write says whether it may still appear, and at which timestamp. */
function failedWrite(error: unknown, stamp: Stamp, earlier: WriteOutcome): unknown {
  if (!(error instanceof CodedError)) return error;
  const { code, message, hint, details } = error;
  const outcome = details.outcome === 'unknown' ? 'unknown' : earlier;
  return new CodedError(code, message, {
    hint,
    details: { ...details, stamp: formatStamp(stamp), outcome },
    cause: error,
  });
}

function newestOf(answers: readonly ReadAnswer[]): ReadRecord | null {
  let newest: ReadRecord | null = null;
  for (const { record } of answers) {
    if (record !== null && (newest === null || compareStamps(record, newest) > 0)) newest = record;
  }
  return newest;
}

function isSame(a: Stamp, b: Stamp): boolean {
  return compareStamps(a, b) === 0;
}
