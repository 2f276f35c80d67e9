// This device as a coordinator: any server takes any request, and asks the devices of its slots.
import { CodedError } from '@ringwright/base/coded-error';
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import type { SessionToken } from '@ringwright/base/session-token';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';
import { slotsOf } from '@ringwright/ring/slots-of';
import { byteText } from '../replica/byte-text.ts';
import { checkClock } from '../replica/replica.ts';
import { asOf, type WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { type Consistency, slotsNeeded } from './consistency.ts';
import { finishProposal, type NewContent, propose } from './propose.ts';
import { quorumRead } from './quorum-read.ts';
import { type FailedWriteOutcome, mayBeStored, quorumWrite, UndecidedKey } from './quorum-write.ts';
import { tallySlots } from './slot-acks.ts';
import { type CoordinatorPorts, withNewestRing } from './with-newest-ring.ts';

export interface KeyRequest {
  readonly keyspace: string;
  readonly key: Uint8Array;
  readonly consistency: Consistency;
  /** What the session of the request has seen: a write is stamped above it. */
  readonly session?: SessionToken | null;
}

/** The stamps of a record that was written. */
export type Written = Pick<WireContent, 'ms' | 'tie' | 'origin'>;

/**
 * Writes a value (null deletes). Resolves with the record's stamp when the level is reached.
 * Throws CLOCK_BEHIND, SUPERSEDED when a device holds something newer, RING_UNKNOWN,
 * NOT_ENOUGH_REPLICAS and what fetching a newer ring throws; `details.outcome` is then `rejected`
 * (certainly nowhere) or `unknown` (it may appear later, once, at `details.stamp`). A linearizable
 * write is never superseded; it throws as propose.
 */
export async function coordinateWrite(
  ports: CoordinatorPorts,
  request: KeyRequest & NewContent,
): Promise<Written> {
  const { keyspace, key, value, expiresMs, consistency } = request;
  if (request.session) checkClock(ports.clock, request.session);
  if (consistency === 'linearizable') return writeByRounds(ports, request, null);
  const issued = ports.issueStamp(ports.rings.get(keyspace), key);
  // What is there is not waited for: this is the path of every write.
  const stamp = issued instanceof Promise ? await issued : issued;
  const { ms, tie } = stamp;
  let earlier: FailedWriteOutcome = 'rejected';
  const note = (error: unknown): void => {
    if (mayBeStored(error)) earlier = 'unknown';
  };
  // The stamp stays the same when the ring changes on the way: a retry stores the same record, not
  // a second one.
  const attempt = (active: ActiveRing): ReturnType<typeof quorumWrite> => {
    const partition = active.partitionOf(key);
    const slots = slotsOf(active.ring, partition);
    const needed = slotsNeeded(consistency, slots.length);
    const bare = { partition, key, value, ms, tie };
    const record = expiresMs ? { ...bare, expiresMs } : bare;
    const spread = quorumWrite(ports.devices, { active, slots, record, needed });
    spread.catch(note);
    return spread;
  };
  let newer: Stamp | null;
  try {
    ({ newer } = await withNewestRing(ports, keyspace, attempt));
  } catch (error) {
    const failure = failedWrite(error, stamp, earlier);
    if (!(error instanceof UndecidedKey) || !(failure instanceof CodedError)) throw failure;
    const mine = failure.details.outcome === 'unknown' ? stamp : null;
    return writeByRounds(ports, request, mine).catch((later: unknown) => {
      const isNewer = later instanceof CodedError && later.code === 'KEY_OVERTAKEN';
      throw isNewer ? superseded(stamp, String(later.details.newer)) : later;
    });
  }
  // failpoint: coordinate.level-reached
  if (newer === null) return stamp;
  ports.clock.observe(newer);
  throw superseded(stamp, formatStamp(newer));
}

function superseded(stamp: Stamp, newer: string): CodedError {
  const details = { stamp: formatStamp(stamp), newer };
  const message = `a record of ${newer} is newer than this write of ${details.stamp}`;
  const hint = 'read the key and decide whether to write again';
  return new CodedError('SUPERSEDED', message, { hint, details });
}

/** `mine`: the stamp under which an earlier attempt may be stored somewhere. */
async function writeByRounds(
  ports: CoordinatorPorts,
  { keyspace, key, value, expiresMs, consistency }: KeyRequest & NewContent,
  mine: Stamp | null,
): Promise<Written> {
  const nowMs = ports.clock.nowMs();
  const { record } = await ports.mutex.run(`${keyspace}/${byteText(key)}`, () =>
    propose(ports, { keyspace, key, nowMs, change: () => ({ value, expiresMs }), mine }),
  );
  if (consistency === 'all') {
    await withNewestRing(ports, keyspace, (active) => {
      const partition = active.partitionOf(key);
      const slots = slotsOf(active.ring, partition);
      const whole = { partition, key, ...record };
      return quorumWrite(ports.devices, { active, slots, record: whole, needed: slots.length });
    });
  }
  return record;
}

/**
 * Reads a key: its newest record, a tombstone included, or null when there is none; one that has
 * expired is given as a tombstone. The session of the request is not looked at: read-in-session.ts
 * does.
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
  const gathered = quorumRead(devices, { active, partition, key, slots, needed });
  return andThen(gathered, ({ newest, holders }) => {
    if (newest === null || consistency === 'one') return newest;
    const known = new Map(holders.map((device) => [device, true]));
    if (tallySlots(slots, known, needed).acked >= needed) return newest;
    // Blocking read repair: what one read has shown, every later quorum read shows too. A slot in
    // flight counts with its joiner only: the next ring may forget the device that answered.
    const record = { partition, key, ...newest, repair: true } as const;
    const exact = consistency === 'linearizable';
    // failpoint: coordinate.before-write-back
    const spread = { active, slots, record, needed, holders, exact };
    return quorumWrite(devices, spread).then(() => newest);
  });
}

/** A failed write says whether it may still appear, and at which timestamp. */
function failedWrite(error: unknown, stamp: Stamp, earlier: FailedWriteOutcome): unknown {
  if (!(error instanceof CodedError)) return error;
  const { code, message, hint, details } = error;
  const outcome = details.outcome === 'unknown' ? 'unknown' : earlier;
  return new CodedError(code, message, {
    hint,
    details: { ...details, stamp: formatStamp(stamp), outcome },
    cause: error,
  });
}
