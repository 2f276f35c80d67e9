// Pushes one ring to servers: offers it, sends it where it is needed, and waits until it is active.
import { isDeepStrictEqual } from 'node:util';
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import type { ErrorCode } from '@ringwright/base/errors';
import { getOrMake } from '@ringwright/base/get-or-make';
import { ringActivationMsMax } from '@ringwright/base/limits-rings';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import { makeRingDelta } from '@ringwright/ring/file/ring-delta';
import type { RingHead } from '@ringwright/wire/hello';
import { type Sending, sendRing } from '@ringwright/wire/send-ring';
import type { ServerFailure } from './advice-rule.ts';
import { failureOf, offerTrust, type TrustDocuments } from './give-trust.ts';
import type { Target } from './ring-targets.ts';
import { serversAtOnceMax, withServer } from './server-connection.ts';

export interface PushOutcome extends Target {
  /**
   * accepted: the version is active there. refused: the server said no. unreachable: the result is
   * unknown. skipped: not asked, because another server had refused.
   */
  readonly outcome: 'accepted' | 'refused' | 'unreachable' | 'skipped';
  /** How the ring was sent, and the bytes sent. */
  readonly sent?: Sending['how'];
  readonly bytesSent?: number;
  readonly code?: ErrorCode;
  readonly message?: string;
  readonly hint?: string;
}

const TELL_MS = 1_000;

export interface PushWith {
  /**
   * Returns the folder's current documents, sent before the ring, whose keys they may introduce;
   * null: unsigned.
   */
  readonly documents: () => Promise<TrustDocuments | null>;
  /** Like DeltaFrom, for the ring that the server at `address` has. Throws to forbid the push. */
  readonly deltaFrom: (base: RingHead, address: string) => ReturnType<DeltaFrom>;
  /** Continue after a refusal. Otherwise no further server is asked. */
  readonly keepGoing: boolean;
  /** Runs after each server that accepts, before another is asked in its place. */
  readonly onAccepted?: () => Promise<void>;
  /** Receives a progress line every second; null: no progress is shown. */
  readonly tell: ((line: string) => void) | null;
}

/**
 * Asks every server in order, a bounded number at a time. Starts over if one of them already holds
 * a newer document that was made in the meantime.
 */
export async function pushToTargets(
  version: StoredVersion,
  targets: readonly Target[],
  settings: PushWith,
): Promise<PushOutcome[]> {
  for (;;) {
    const trust = await settings.documents();
    const servers = await pushOnce(version, targets, { ...settings, trust });
    const isOlder = servers.some(({ code }) => code === 'ACCESS_OLDER' || code === 'TRUST_OLDER');
    if (!isOlder || isSame(trust, await settings.documents())) return servers;
  }
}

/** Compares roots and access only, because beacons are made anew each time. */
function isSame(one: TrustDocuments | null, other: TrustDocuments | null): boolean {
  return isDeepStrictEqual([one?.roots, one?.access], [other?.roots, other?.access]);
}

interface PushOnce extends PushWith {
  readonly trust: TrustDocuments | null;
}

async function pushOnce(
  version: StoredVersion,
  targets: readonly Target[],
  settings: PushOnce,
): Promise<PushOutcome[]> {
  const counts = { accepted: 0, refused: 0, unreachable: 0, skipped: 0 };
  const tellCounts = (): void => {
    const { accepted, refused, unreachable } = counts;
    const answers = `${accepted} accepted, ${refused} refused, ${unreachable} not reached`;
    settings.tell?.(
      `version ${version.ring.version}: ${counted(targets.length, 'server')}, ${answers}`,
    );
  };
  const timer = settings.tell === null ? undefined : setInterval(tellCounts, TELL_MS);
  try {
    // Not fanOut, which would print progress too.
    return await mapConcurrent(targets, serversAtOnceMax, async (target) => {
      const isOver = counts.refused > 0 && !settings.keepGoing;
      const answer = isOver ? skipped(target) : await pushOrWhyNot(version, target, settings);
      counts[answer.outcome] += 1;
      if (answer.outcome === 'accepted') await settings.onAccepted?.();
      return answer;
    });
  } finally {
    clearInterval(timer);
  }
}

export function accepted(servers: readonly PushOutcome[]): PushOutcome[] {
  return servers.filter(({ outcome }) => outcome === 'accepted');
}

/**
 * Returns the required servers that did not take the version, without skipped ones. A server that
 * refuses because of a fork has the other history.
 */
export function serverFailuresOf(
  servers: readonly (Pick<PushOutcome, 'address' | 'devices' | 'required'> & {
    readonly code?: ErrorCode;
  })[],
): ServerFailure[] {
  return servers.flatMap(({ address, devices, required, code }) =>
    required && code !== undefined
      ? [{ address, devices, code, isOther: code === 'RING_FORK' }]
      : [],
  );
}

/** Returns the outcome of a server that is not asked. */
export function skipped({ address, devices, required }: Target): PushOutcome {
  return { address, devices, required, outcome: 'skipped' };
}

async function pushOrWhyNot(
  version: StoredVersion,
  { address, devices, required }: Target,
  settings: PushOnce,
): Promise<PushOutcome> {
  const sending = await resultOrError(pushTo(version, address, settings));
  if (sending instanceof CodedError) return { address, devices, required, ...failureOf(sending) };
  const { how, bytesSent } = sending;
  return { address, devices, required, outcome: 'accepted', sent: how, bytesSent };
}

function pushTo(
  version: StoredVersion,
  address: string,
  { trust, deltaFrom }: PushOnce,
): Promise<Sending> {
  const { bytes, id, ring } = version;
  return withServer(address, async (server) => {
    if (trust !== null) await offerTrust(server, trust);
    const head = { keyspace: ring.keyspace, version: ring.version, id };
    const deltaTo: DeltaFrom = (base) => deltaFrom(base, address);
    const sent = { ...head, bytes, deltaFrom: deltaTo, timeoutMs: ringActivationMsMax };
    return sendRing(server, sent);
  });
}

export type DeltaFrom = (base: RingHead) => Promise<Uint8Array | null>;

/** Returns null for rings that are not in the repository `rings` or differ too much. */
export function deltasTo(rings: string, version: StoredVersion): DeltaFrom {
  const deltasByBase = new Map<string, Promise<Uint8Array | null>>();
  const make = async (base: RingHead): Promise<Uint8Array | null> => {
    const stored = await resultOrError(readVersion(rings, version.ring.keyspace, base.version));
    // Without the base the whole file is sent. A delta is optional and must not fail a push.
    if (stored instanceof CodedError || stored.id !== base.id) return null;
    return makeRingDelta(stored.bytes, version.bytes);
  };
  return (base) => getOrMake(deltasByBase, base.id, () => make(base));
}
