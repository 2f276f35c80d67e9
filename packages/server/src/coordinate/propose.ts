// Decides what a key holds, by rounds: a quorum of slots promises to take nothing older, then a
// quorum takes one record (CASPaxos, Rystsov 2018, with stamps as ballots). ROUNDS.md explains why
// this is correct beside plain writes, reads, replication and moves.
import { CodedError, withDetails } from '@ringwright/base/coded-error';
import { roundTriesMax, roundTurnMs } from '@ringwright/base/limits';
import { compareStamps, formatStamp, type Stamp } from '@ringwright/base/stamp';
import { joinersOfNewSlots, slotsOf } from '@ringwright/ring/slots-of';
import { recordPrepare } from '@ringwright/wire/records';
import { clockBehind } from '../clocks/stamp-issuer.ts';
import type { DeviceCaller } from '../peers/device-caller.ts';
import { asOf, identityOf, type WireContent } from '../replica/wire-record.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import { newestOf, type QuorumReadRequest } from './quorum-read.ts';
import {
  codeOfFailure,
  mayBeStored,
  type OutdatedRing,
  outdatedRing,
  quorumWrite,
  tooFewSlots,
  UndecidedKey,
} from './quorum-write.ts';
import { slotDevices, slotsNeeded, tallySlots } from './slot-acks.ts';
import { type CoordinatorPorts, withNewestRing } from './with-newest-ring.ts';

/** The new content of a key. */
export interface NewContent {
  readonly value: Uint8Array | null;
  /** Unix ms from which the record counts as deleted; 0 or absent: never. */
  readonly expiresMs?: number | undefined;
}

/** Computes the new content from the present record; null: no change. Called once in each round. */
export type ChangeFunction = (present: WireContent | null) => NewContent | null;

interface ProposeRequest {
  readonly keyspace: string;
  readonly key: Uint8Array;
  readonly change: ChangeFunction;
  /** The time by which records count as expired, the same for the whole request. */
  readonly nowMs: number;
  /** Identity of the new record, if an earlier attempt to write it may be stored somewhere. */
  readonly mine?: Stamp | null;
}

export interface Decided {
  /** What the key holds now, on a quorum of slots: as it is stored there, even if it has expired. */
  readonly record: WireContent;
  /** Whether this request made that record. */
  readonly isChanged: boolean;
}

/**
 * Decides a key. Throws RING_UNKNOWN, CLOCK_AHEAD, CLOCK_BEHIND, NOT_ENOUGH_REPLICAS, KEY_CONTENDED
 * and KEY_OVERTAKEN. `details.outcome` says whether the change is `rejected` (stored nowhere) or
 * `unknown` (may appear later, once, as `details.stamp`).
 */
export async function propose(ports: CoordinatorPorts, request: ProposeRequest): Promise<Decided> {
  const work: Work = { ownId: request.mine ?? null };
  const round = (active: ActiveRing): Promise<Decided | null> =>
    runRound(ports, { ...request, active, work });
  try {
    for (let tries = 1; tries <= roundTriesMax; tries += 1) {
      if (tries > 1) await ports.backOff(tries);
      const decided = await withNewestRing(ports, request.keyspace, round);
      if (decided !== null) return decided;
    }
  } catch (error) {
    throw failedChange(error, work);
  }
  const message = `${roundTriesMax} rounds were overtaken by those of other clients`;
  const hint = 'try again, and let fewer clients change this key at the same time';
  throw failedChange(new CodedError('KEY_CONTENDED', message, { hint }), work);
}

/** Resolves after a round that leaves a record at or above every promise of the key on a quorum. */
export type FinishProposal = (keyspace: string, key: Uint8Array) => Promise<unknown>;

/** Leaves the value of the key as it is, and no promise open. Throws what propose throws. */
export function finishProposal(
  ports: CoordinatorPorts,
  keyspace: string,
  key: Uint8Array,
): Promise<Decided> {
  return propose(ports, { keyspace, key, nowMs: ports.clock.nowMs(), change: () => null });
}

interface Work {
  /** Identity of the new record, from the moment it may be stored somewhere. */
  ownId: Stamp | null;
}

/** Runs one round with a ballot of its own. Returns null if another round overtook it. */
async function runRound(
  ports: CoordinatorPorts,
  round: ProposeRequest & { readonly active: ActiveRing; readonly work: Work },
): Promise<Decided | null> {
  const { key, active, work, nowMs } = round;
  const ballot = await ports.issueStamp(active, key);
  const partition = active.partitionOf(key);
  const slots = slotsOf(active.ring, partition);
  const needed = slotsNeeded('quorum', slots.length);
  const target = { active, partition, key, slots, needed };
  const prepared = await prepareKey(ports.devices, { ...target, ballot });
  if (prepared.kind === 'refused') {
    if (ports.clock.learn(prepared.above)) return null;
    throw clockBehind(ports.clock.aheadMs(prepared.above));
  }
  const present = newestOf(prepared.records);
  const isOwn = isSame(present, work.ownId);
  if (!isOwn) checkNotOvertaken(present, work);
  const content = isOwn ? null : round.change(asOf(present, nowMs));
  const record = content === null ? restamped(present, ballot) : newRecord(content, ballot, work);
  try {
    const whole = { ...record, partition, key };
    await quorumWrite(ports.devices, { active, slots, record: whole, needed, exact: true });
  } catch (error) {
    if (content !== null && mayBeStored(error)) work.ownId ??= ballot;
    if (error instanceof UndecidedKey) return null;
    throw error;
  }
  return { record, isChanged: isOwn || content !== null };
}

/**
 * Returns the same record under a higher stamp, so that nothing older can follow. A round that
 * changes nothing ends like one that does, and leaves no promise open.
 */
function restamped(present: WireContent | null, ballot: Stamp): WireContent {
  if (present === null) return { value: null, ...ballot };
  return { ...present, ...ballot, origin: identityOf(present) };
}

function newRecord({ value, expiresMs }: NewContent, ballot: Stamp, { ownId }: Work): WireContent {
  return { value, ...ballot, ...(expiresMs && { expiresMs }), ...(ownId && { origin: ownId }) };
}

/**
 * Identities rise with every change. So if the present identity is below `ownId`, nothing of this
 * request was ever in force. If it is above, nobody can tell whether the request was in force
 * before.
 */
function checkNotOvertaken(present: WireContent | null, { ownId }: Work): void {
  if (ownId === null || present === null || compareStamps(identityOf(present), ownId) < 0) return;
  const newer = formatStamp(identityOf(present));
  throw new CodedError('KEY_OVERTAKEN', `a record of ${newer} came in between`, {
    hint: 'read the key and decide whether to write again',
    details: { newer },
  });
}

function isSame(present: WireContent | null, ownId: Stamp | null): boolean {
  return present !== null && ownId !== null && compareStamps(identityOf(present), ownId) === 0;
}

function failedChange(error: unknown, { ownId }: Work): unknown {
  const details =
    ownId === null ? { outcome: 'rejected' } : { outcome: 'unknown', stamp: formatStamp(ownId) };
  return withDetails(error, details);
}

interface Prepare extends QuorumReadRequest {
  readonly ballot: Stamp;
}

type Prepared =
  /** `needed` slots have promised; `records` are what their devices in the table hold. */
  | { readonly kind: 'given'; readonly records: readonly (WireContent | null)[] }
  /** Too many devices hold or have promised something higher; `above` is the highest of that. */
  | { readonly kind: 'refused'; readonly above: Stamp };

/**
 * Prepares a round at a quorum. The device of the first slot is asked first, because it queues the
 * rounds of the key. The others are asked when it has answered, or after roundTurnMs. Rejects like
 * quorumWrite.
 */
function prepareKey(devices: DeviceCaller, prepare: Prepare): Promise<Prepared> {
  const { active, partition, key, slots, needed, ballot } = prepare;
  const { keyspace, version } = active.ring;
  const request = { keyspace, ringVersion: version, partition, key, ...ballot };
  const servers = new Set(slots.map(({ device }) => device));
  const records: (WireContent | null)[] = [];
  const answered = new Map<number, boolean>();
  const codes = new Map<number, string>();
  let above: Stamp | null = null;
  let outdated: OutdatedRing | null = null;
  return new Promise((resolve, reject) => {
    const finish = (device: number, isPromised: boolean): void => {
      answered.set(device, isPromised);
      const tally = tallySlots(slots, answered);
      if (tally.acked >= needed) resolve({ kind: 'given', records: [...records] });
      else if (tally.possible >= needed) return;
      else if (outdated !== null) reject(outdated);
      else if (above !== null) resolve({ kind: 'refused', above });
      else reject(tooFewSlots(tally, { slots: slots.length, needed, codes, outcome: 'rejected' }));
    };
    const [first = -1, ...others] = slotDevices(slots);
    others.push(...joinersOfNewSlots(active.ring, partition));
    const askOthers = (): void => {
      clearTimeout(hedge);
      for (const device of others.splice(0)) ask(device);
    };
    const hedge = setTimeout(askOthers, roundTurnMs);
    const ask = (device: number): void => {
      Promise.resolve(devices.call({ active, device }, recordPrepare, request)).then(
        (answer) => {
          codes.set(device, answer.kind);
          if (answer.kind === 'refused') {
            const { ms, tie } = answer;
            if (above === null || compareStamps(answer, above) > 0) above = { ms, tie };
            if (device === first && others.length > 0) {
              clearTimeout(hedge);
              resolve({ kind: 'refused', above });
              return;
            }
          } else if (servers.has(device)) records.push(answer.record);
          finish(device, answer.kind === 'given' && (answer.serves || !servers.has(device)));
          if (device === first) askOthers();
        },
        (error: unknown) => {
          codes.set(device, codeOfFailure(error));
          outdated ??= outdatedRing(error, { active, device });
          finish(device, false);
          if (device === first) askOthers();
        },
      );
    };
    ask(first);
  });
}
