// What a coordinator needs for its work, and how it follows rings that change during a request.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import type { ErrorCode } from '@ringwright/base/errors';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { crowdedMsMax, ringRetriesMax } from '@ringwright/base/limits';
import { takeoverMsMax } from '@ringwright/base/limits-rings';
import {
  type Callback,
  fromCallback,
  type MaybePromise,
  tryCall,
} from '@ringwright/base/maybe-promise';
import type { Stamp } from '@ringwright/base/stamp';
import type { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import type { RingRequests } from '../rings/ring-requests.ts';
import type { Rings } from '../rings/rings.ts';
import type { LongWrites } from './long-writes.ts';
import { OutdatedRing } from './quorum-write.ts';

export interface CoordinatorPorts {
  readonly rings: Rings;
  readonly requests: RingRequests;
  readonly devices: DeviceCaller;
  readonly clock: HybridClock;
  /** Issues a stamp for a write of a key: prove-clock.ts, stamp-issuer.ts. */
  readonly issueStamp: (active: ActiveRing, key: Uint8Array) => MaybePromise<Stamp>;
  /** Fetches the newer ring from the device that refused an old one. */
  readonly catchUp: (active: ActiveRing, device: number) => Promise<void>;
  /** Rounds of one key that begin here wait for each other. */
  readonly mutex: KeyedMutex;
  readonly longWrites: LongWrites;
  /** Waits for a random time before a retry, longer with every try. */
  readonly backOff: (tries: number) => Promise<void>;
}

/**
 * Runs an attempt with the active ring, and repeats it: with a newer ring as long as devices refuse
 * the old one; for a moment after a ring was activated, while joiners may not count yet; and, for a
 * read, for a moment while too many bytes wait for a device. An attempt may have stored something
 * before it is repeated, so it must store the same again.
 */
export function withNewestRing<T>(
  ports: CoordinatorPorts,
  keyspace: string,
  attempt: (active: ActiveRing) => MaybePromise<T>,
): MaybePromise<T> {
  return tryCall(() => {
    const active = ports.rings.get(keyspace);
    const first = tryCall(() => attempt(active));
    return first instanceof Promise ? follow(ports, active, { attempt, first }) : first;
  });
}

/** An attempt with a callback instead of a promise: see withNewestRingFor. */
export type Attempt<T> = (active: ActiveRing, onResult: Callback<T>) => void;

/**
 * Like withNewestRing, for the path of every write: creates no promise unless an attempt fails.
 * Throws RING_UNKNOWN.
 */
export function withNewestRingFor<T>(
  ports: CoordinatorPorts,
  { keyspace, attempt }: { readonly keyspace: string; readonly attempt: Attempt<T> },
  onResult: Callback<T>,
): void {
  const active = ports.rings.get(keyspace);
  const ringRequest = { keyspace, ringVersion: active.ring.version };
  ports.requests.begin('coordinated', ringRequest);
  attempt(active, (result, error) => {
    ports.requests.end('coordinated', ringRequest);
    if (error === null) {
      onResult(result, null);
      return;
    }
    const again = (newest: ActiveRing): Promise<T> =>
      fromCallback((onLater) => attempt(newest, onLater));
    const first = Promise.reject<T>(error as Error);
    follow(ports, active, { attempt: again, first }).then(
      (later) => onResult(later, null),
      (failure: unknown) => onResult(null, failure),
    );
  });
}

/**
 * Awaits `first`, which was made with `firstRing`, and retries. Each attempt counts as under way
 * only while it is awaited.
 */
async function follow<T>(
  ports: CoordinatorPorts,
  firstRing: ActiveRing,
  { attempt, first }: { attempt: (active: ActiveRing) => MaybePromise<T>; first: Promise<T> },
): Promise<T> {
  const { keyspace } = firstRing.ring;
  let pending: Promise<T> | null = first;
  let waits = 0;
  const startedMs = ports.clock.machineMs();
  for (let tries = 1; ; ) {
    const active: ActiveRing = pending === null ? ports.rings.get(keyspace) : firstRing;
    const ringRequest = { keyspace, ringVersion: active.ring.version };
    ports.requests.begin('coordinated', ringRequest);
    try {
      const result = pending ?? attempt(active);
      pending = null;
      return await result;
    } catch (error) {
      if (isTakingOver(ports, active, error) || isQueueFull(ports, startedMs, error)) {
        waits += 1;
        await ports.backOff(waits);
        continue;
      }
      if (!(error instanceof OutdatedRing) || tries === ringRetriesMax) throw error;
      tries += 1;
      await reachNewer(ports, active, error.device);
    } finally {
      ports.requests.end('coordinated', ringRequest);
    }
  }
}

/**
 * Whether a device did not count because the table has just named it (confirm-takeover.ts). It
 * counts as soon as the devices of the old ring have learned of the new one.
 */
function isTakingOver(
  { clock }: CoordinatorPorts,
  { activatedMs }: ActiveRing,
  error: unknown,
): boolean {
  return hasDeviceError(error, 'PARTITION_FILLING') && isWithin(clock, activatedMs, takeoverMsMax);
}

/** A clock that was set back since then must not let a request wait until that time comes again. */
function isWithin(clock: CoordinatorPorts['clock'], sinceMs: number, ms: number): boolean {
  return Math.abs(clock.machineMs() - sinceMs) < ms;
}

/**
 * Whether a read failed because too many bytes wait on the way from a device. They drain, so a
 * client that asks for hundreds of long values at once gets each of them. A write (its error has an
 * outcome) is not sent again: each device that has it would log it once more.
 */
function isQueueFull({ clock }: CoordinatorPorts, startedMs: number, error: unknown): boolean {
  const isWrite = error instanceof CodedError && error.details['outcome'] !== undefined;
  return !isWrite && isWithin(clock, startedMs, crowdedMsMax) && hasDeviceError(error, 'PEER_BUSY');
}

/** Whether one of the devices that did not count failed with this code. */
function hasDeviceError(error: unknown, code: ErrorCode): boolean {
  if (!hasCode(error, 'NOT_ENOUGH_REPLICAS')) return false;
  return Object.values(error.details['devices'] ?? {}).includes(code);
}

/** Fetches the newer ring, unless it has arrived another way meanwhile. */
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
