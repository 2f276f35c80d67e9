// This device as a coordinator: any server takes any request, and asks the devices of the key's
// slots.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError, hasCode, withDetails } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { sessionAheadMsMax } from '@ringwright/base/limits-listeners';
import {
  andThen,
  type Callback,
  fromCallback,
  type MaybePromise,
} from '@ringwright/base/maybe-promise';
import {
  formatSessionToken,
  type SessionToken,
  sessionHeader,
} from '@ringwright/base/session-token';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';
import { slotsOf } from '@ringwright/ring/slots-of';
import type { ConsistencyLevel } from '@ringwright/wire/coordination';
import type { AnswerOf } from '@ringwright/wire/message';
import { recordRead } from '@ringwright/wire/records';
import { asOf, identityOf, type WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { finishProposal, type NewContent, propose } from './propose.ts';
import { type QuorumReadRequest, quorumRead } from './quorum-read.ts';
import {
  type FailedWriteOutcome,
  mayBeStored,
  quorumWrite,
  quorumWriteFor,
  UndecidedKey,
} from './quorum-write.ts';
import { slotsNeeded, tallySlots } from './slot-acks.ts';
import {
  type Attempt,
  type CoordinatorPorts,
  withNewestRing,
  withNewestRingFor,
} from './with-newest-ring.ts';

export interface KeyRequest {
  readonly keyspace: string;
  readonly key: Uint8Array;
  readonly consistency: ConsistencyLevel;
  /** What the session of the request has seen. A write is stamped above it. */
  readonly session?: SessionToken | null;
}

/** The stamps of a record that was written. */
export type Written = Pick<WireContent, 'ms' | 'tie' | 'origin'>;

/**
 * Writes a value (null deletes). Resolves with the record's stamp when the level is reached. Throws
 * STORE_BUSY, CLOCK_AHEAD, CLOCK_BEHIND, SUPERSEDED when a device holds something newer,
 * RING_UNKNOWN, NOT_ENOUGH_REPLICAS and what fetching a newer ring throws. `details.outcome` is
 * then `rejected` (stored nowhere) or `unknown` (may appear later, once, with the stamp
 * `details.stamp`). A linearizable write is never superseded; it throws what propose throws.
 */
export function coordinateWrite(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
): Promise<Written> {
  return fromCallback((onResult) => coordinateWriteFor(ports, request, onResult));
}

/**
 * Like coordinateWrite, but creates a promise only when something has to be awaited. Throws
 * nothing.
 */
export function coordinateWriteFor(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
  onResult: Callback<Written>,
): void {
  let onEnd = onResult;
  const failed = (error: unknown): void => onEnd(null, error);
  try {
    const end = ports.longWrites.begin(request.value);
    if (end !== null) {
      onEnd = (written, error) => {
        end();
        onResult(written, error);
      };
    }
    if (request.session) checkSession(ports.clock, request.session);
    if (request.consistency === 'linearizable') {
      writeByRounds(ports, request, null).then((written) => onEnd(written, null), failed);
      return;
    }
    const issued = ports.issueStamp(ports.rings.get(request.keyspace), request.key);
    const write = (stamp: Stamp): void => writeStamped(ports, request, { stamp, onResult: onEnd });
    if (!(issued instanceof Promise)) write(issued);
    else issued.then(write).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Avoids promises for values that are already there: every write passes through here. */
function writeStamped(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
  { stamp, onResult }: { readonly stamp: Stamp; readonly onResult: Callback<Written> },
): void {
  const { keyspace, key, value, expiresMs, consistency } = request;
  const { ms, tie } = stamp;
  let earlier: FailedWriteOutcome = 'rejected';
  // The stamp stays the same when the ring changes on the way, so a retry stores the same record
  // and not a second one.
  const attempt: Attempt<Stamp | null> = (active, onAttempt) => {
    const partition = active.partitionOf(key);
    const slots = slotsOf(active.ring, partition);
    const needed = slotsNeeded(consistency, slots.length);
    const record = expiresMs
      ? { partition, key, value, ms, tie, expiresMs }
      : { partition, key, value, ms, tie };
    quorumWriteFor(ports.devices, { active, slots, record, needed }, (newer, error) => {
      if (error !== null && mayBeStored(error)) earlier = 'unknown';
      onAttempt(newer, error);
    });
  };
  withNewestRingFor(ports, { keyspace, attempt }, (newer, error) => {
    if (error !== null) {
      finishFailed(ports, request, { stamp, error, earlier })
        .then((written) => onResult(written, null))
        .catch((failure: unknown) => onResult(null, failure));
      return;
    }
    // failpoint: coordinate.level-reached
    if (newer === null) {
      onResult(stamp, null);
      return;
    }
    ports.clock.learn(newer);
    onResult(null, superseded(stamp, formatStamp(newer)));
  });
}

/**
 * Decides a write by rounds if a promise kept it out. For any other failure, adds what is certain
 * about the outcome and throws it.
 */
async function finishFailed(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
  attempted: {
    readonly stamp: Stamp;
    readonly error: unknown;
    readonly earlier: FailedWriteOutcome;
  },
): Promise<Written> {
  const { stamp, error, earlier } = attempted;
  const failure = failedWrite(error, stamp, earlier);
  if (!(error instanceof UndecidedKey) || !(failure instanceof CodedError)) throw failure;
  const ownId = failure.details.outcome === 'unknown' ? stamp : null;
  try {
    return await writeByRounds(ports, request, ownId);
  } catch (later) {
    if (!hasCode(later, 'KEY_OVERTAKEN')) throw later;
    throw superseded(stamp, String(later.details.newer));
  }
}

function superseded(stamp: Stamp, newer: string): CodedError {
  const details = { stamp: formatStamp(stamp), newer };
  const message = `a record of ${newer} is newer than this write of ${details.stamp}`;
  const hint = 'read the key and decide whether to write again';
  return new CodedError('SUPERSEDED', message, { hint, details });
}

/** `ownId`: the stamp with which an earlier attempt may be stored somewhere. */
async function writeByRounds(
  ports: CoordinatorPorts,
  { keyspace, key, value, expiresMs, consistency }: KeyRequest & NewContent,
  ownId: Stamp | null,
): Promise<Written> {
  const nowMs = ports.clock.nowMs();
  const { record } = await ports.mutex.run(`${keyspace}/${byteText(key)}`, () =>
    propose(ports, { keyspace, key, nowMs, change: () => ({ value, expiresMs }), mine: ownId }),
  );
  if (consistency !== 'all') return record;
  try {
    await withNewestRing(ports, keyspace, (active) => {
      const partition = active.partitionOf(key);
      const slots = slotsOf(active.ring, partition);
      const whole = { partition, key, ...record };
      return quorumWrite(ports.devices, { active, slots, record: whole, needed: slots.length });
    });
  } catch (error) {
    // A quorum has it, whatever the last devices have answered.
    throw failedWrite(error, identityOf(record), 'unknown');
  }
  return record;
}

/**
 * Reads a key. Returns its newest record, tombstones included, or null if there is none. An expired
 * record is returned as a tombstone. Ignores the session of the request; see read-in-session.ts.
 */
export function coordinateRead(
  ports: CoordinatorPorts,
  request: KeyRequest,
): MaybePromise<WireContent | null> {
  const { keyspace, key } = request;
  const nowMs = ports.clock.nowMs();
  const read = withNewestRing(ports, keyspace, (active) => readNewest(ports, active, request));
  if (!(read instanceof Promise)) return asOf(read, nowMs);
  return read.then(
    (record) => asOf(record, nowMs),
    async (error: unknown) => {
      if (!(error instanceof UndecidedKey)) throw error;
      return asOf((await finishProposal(ports, keyspace, key)).record, nowMs);
    },
  );
}

function readNewest(
  { devices }: CoordinatorPorts,
  active: ActiveRing,
  { key, consistency }: KeyRequest,
): MaybePromise<WireContent | null> {
  const partition = active.partitionOf(key);
  const slots = slotsOf(active.ring, partition);
  const needed = slotsNeeded(consistency, slots.length);
  const own = needed === 1 ? readHere(devices, { active, partition, key, slots }) : undefined;
  if (own !== undefined && !(own instanceof Promise)) return own.record;
  const gathered = quorumRead(devices, { active, partition, key, slots, needed, own });
  return andThen(gathered, ({ newest, holders }) => {
    if (newest === null || consistency === 'one') return newest;
    const acknowledged = new Map(holders.map((device) => [device, true]));
    if (tallySlots(slots, acknowledged).acked >= needed) return newest;
    // Blocking read repair: what one read has shown, every later quorum read shows too. A slot in
    // flight counts only together with its joiner: the next ring may forget the device that
    // answered.
    const record = { partition, key, ...newest, repair: true } as const;
    const exact = consistency === 'linearizable';
    // failpoint: coordinate.before-write-back
    const write = { active, slots, record, needed, holders, exact };
    return quorumWrite(devices, write).then(() => newest);
  });
}

/** The answer of this device if it alone satisfies the read, otherwise undefined. */
function readHere(
  devices: CoordinatorPorts['devices'],
  { active, partition, key, slots }: Omit<QuorumReadRequest, 'needed'>,
): MaybePromise<AnswerOf<typeof recordRead>> | undefined {
  const { self, ring } = active;
  if (self === null) return undefined;
  // A slot in flight counts only together with its joiner.
  if (!slots.some(({ device, joiner }) => device === self && joiner === null)) return undefined;
  const request = { keyspace: ring.keyspace, ringVersion: ring.version, partition, key };
  return devices.call({ active, device: self }, recordRead, request);
}

/** Adds to a failed write whether it may still appear, and with which stamp. */
function failedWrite(error: unknown, stamp: Stamp, earlier: FailedWriteOutcome): unknown {
  const isUnknown = error instanceof CodedError && error.details.outcome === 'unknown';
  const outcome = isUnknown ? 'unknown' : earlier;
  return withDetails(error, { stamp: formatStamp(stamp), outcome });
}

/**
 * Moves the clock to what the session has seen, so the next stamp lies above it. Throws CLOCK_AHEAD
 * for a token so far ahead that no clock near this one can have made it. Reads skip this check:
 * they are correct with any token, and a server whose own clock is behind can still serve them.
 */
export function checkSession(clock: HybridClock, session: SessionToken): void {
  const aheadMs = clock.aheadMs(session);
  const mostMs = Math.max(sessionAheadMsMax, clock.stampsAheadMs());
  if (aheadMs <= mostMs) {
    clock.observe(session);
    return;
  }
  const token = formatSessionToken(session);
  const what = `the session token ${token} is ${aheadMs} ms ahead`;
  const message = `${what} of the clock, and at most ${mostMs} ms are allowed`;
  const hint =
    'send the token of the last answer unchanged (in the client package: the option session); ' +
    'if it is, the clock of this server, or of the one that issued it, is wrong';
  const details = { header: sessionHeader, token, aheadMs, outcome: 'rejected' };
  throw new CodedError('CLOCK_AHEAD', message, { hint, details });
}
