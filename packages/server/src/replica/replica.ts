// This device as a replica: answers reads and writes of its partitions, fenced by the ring version
// of the request.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import {
  andThen,
  type Callback,
  fromCallback,
  type MaybePromise,
} from '@ringwright/base/maybe-promise';
import { compareStamps, formatStamp, stampTieMax } from '@ringwright/base/stamp';
import type { WriteOutcome } from '@ringwright/partition/file/record';
import type { Store } from '@ringwright/partition/store';
import { type Duty, dutyKindOf } from '@ringwright/ring/duty-of';
import type { Caller } from '@ringwright/wire/call-channel';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import type { recordRead, recordStamp } from '@ringwright/wire/records';
import { checkClock } from '../clocks/check-clock.ts';
import { ownCaller, type WriteAnswer, type WriteRequest } from '../peers/device-caller.ts';
import { type ActiveRing, ringHead } from '../rings/active-ring.ts';
import type { RingExchange } from '../rings/ring-exchange.ts';
import type { InFlight } from './in-flight.ts';
import type { LongReads } from './long-reads.ts';
import type { RoundQueue } from './round-queue.ts';
import { type WireContent, wireContent } from './wire-record.ts';

export interface ReplicaPorts {
  readonly store: Store;
  readonly exchange: RingExchange;
  readonly clock: HybridClock;
  readonly inFlight: InFlight;
  readonly longReads: LongReads;
  readonly rounds: RoundQueue;
  /**
   * Resolves when all files that can be opened now are open, also those of a ring that was
   * activated in this turn.
   */
  readonly opened: (keyspace: string) => Promise<void>;
}

/** How a device answers a message of another device. */
export type ReplicaAnswer<Kind> = (
  ports: ReplicaPorts,
  request: RequestOf<Kind>,
  caller: Caller,
) => Promise<AnswerOf<Kind>>;

const STORED: WriteAnswer = { kind: 'stored' };

interface PartitionRequest {
  readonly keyspace: string;
  readonly ringVersion: number;
  readonly partition: number;
}

export interface Fenced {
  readonly active: ActiveRing;
  readonly duty: Pick<Duty, 'kind'>;
}

/**
 * The fence of every request between devices: this device has activated the ring of the request,
 * and the request knows the last change of the partition. Throws RING_STALE with the head that the
 * sender lacks, and RING_UNKNOWN.
 */
export function passFence(
  ports: ReplicaPorts,
  request: PartitionRequest,
  caller: Caller,
): MaybePromise<Fenced> {
  const { keyspace, ringVersion, partition } = request;
  // Nearly always there is nothing to await, and a promise for every request costs more than the
  // fence itself.
  const active = ports.exchange.reached(keyspace, ringVersion);
  if (active === null || ports.store.marks(keyspace, partition) === null) {
    return waitAtFence(ports, request, caller);
  }
  return fence(active, request);
}

async function waitAtFence(
  ports: ReplicaPorts,
  request: PartitionRequest,
  caller: Caller,
): Promise<Fenced> {
  const { keyspace, ringVersion, partition } = request;
  let active = await ports.exchange.reach(keyspace, ringVersion, caller);
  if (ports.store.marks(keyspace, partition) === null) {
    // The ring was activated a moment ago, and its first files are being opened.
    await ports.opened(keyspace);
    active = await ports.exchange.reach(keyspace, ringVersion, caller);
  }
  return fence(active, request);
}

function fence(active: ActiveRing, { ringVersion, partition }: PartitionRequest): Fenced {
  const minVersion = active.ring.minVersions[partition];
  if (minVersion === undefined || ringVersion < minVersion) {
    const needs = `partition ${partition} needs ring version ${minVersion}`;
    const message = `${needs}, the request has ${ringVersion}`;
    throw new CodedError('RING_STALE', message, { details: { head: ringHead(active) } });
  }
  const { ring, self } = active;
  return { active, duty: { kind: self === null ? 'UNLOAD' : dutyKindOf(ring, partition, self) } };
}

/** Stores a record; resolves when it is durable here. */
export function answerWrite(
  ports: ReplicaPorts,
  request: WriteRequest,
  caller: Caller,
): Promise<WriteAnswer> {
  return fromCallback((onAnswer) => answerWriteFor(ports, { request, caller }, onAnswer));
}

/**
 * Like answerWrite, but without a promise, to keep the path of every write cheap. Calls `onAnswer`
 * once, perhaps in this turn. Throws what the fence refuses.
 */
export function answerWriteFor(
  ports: ReplicaPorts,
  { request, caller }: { readonly request: WriteRequest; readonly caller: Caller },
  onAnswer: Callback<WriteAnswer>,
): void {
  const passed = passFence(ports, request, caller);
  if (!(passed instanceof Promise)) writePassed(ports, { request, caller, ...passed }, onAnswer);
  else {
    passed
      .then((fenced) => writePassed(ports, { request, caller, ...fenced }, onAnswer))
      .catch((error: unknown) => onAnswer(null, error));
  }
}

/**
 * Throws KEY_MISPLACED for a key of another partition: readers look for it there, so a record here
 * would take up space forever. Writes coordinated here are placed by their key.
 */
export function requireOwnPartition(
  { partitionOf }: ActiveRing,
  { partition, key }: { readonly partition: number; readonly key: Uint8Array },
  caller: Caller,
): void {
  if (caller === ownCaller) return;
  const actual = partitionOf(key);
  if (actual === partition) return;
  const message = `the key is in partition ${actual}, the request is for partition ${partition}`;
  const hint =
    'send it to the devices of its own partition: GET /v1/duty/RING/PARTITION names them';
  throw new CodedError('KEY_MISPLACED', message, { hint, details: { partition, place: actual } });
}

function writePassed(
  ports: ReplicaPorts,
  passed: Fenced & { readonly request: WriteRequest; readonly caller: Caller },
  onAnswer: Callback<WriteAnswer>,
): void {
  const { active, duty, request, caller } = passed;
  requireOwnPartition(active, request, caller);
  if (duty.kind === 'UNLOAD') throw notResponsible(active, request.partition);
  // A holder that refused to confirm what it has would make the record unreadable until its time.
  if (!request.repair || !isHere(ports.store, request)) checkClock(ports.clock, request);
  const { keyspace, partition } = request;
  // A record that a holder has is not new to the holders, so it may pass like a push. Floors refuse
  // it.
  if (!request.repair) checkBarrier(ports.store, request);
  const { inFlight } = ports;
  const cohort = inFlight.begin(keyspace, partition);
  const failed = (error: unknown): void => {
    inFlight.end(cohort);
    onAnswer(null, error);
  };
  const stored = (outcome: WriteOutcome): void => {
    inFlight.end(cohort);
    let answer: WriteAnswer;
    try {
      answer = storedAnswer(ports, { request, duty }, outcome);
    } catch (error) {
      onAnswer(null, error);
      return;
    }
    onAnswer(answer, null);
  };
  try {
    ports.store.writeFor(request, { stored, failed });
  } catch (error) {
    inFlight.end(cohort);
    throw error;
  }
}

function storedAnswer(
  ports: ReplicaPorts,
  { request, duty }: Pick<Fenced, 'duty'> & { readonly request: WriteRequest },
  outcome: WriteOutcome,
): WriteAnswer {
  const { keyspace, partition } = request;
  if (outcome.kind === 'absent') throw filling(partition);
  if (outcome.kind === 'promised') return outcome;
  ports.rounds.ended(() => roundName(request), request);
  // failpoint: write.stored
  // Stored, but not acknowledged: this device may lack what a quorum relies on, or a quorum of the
  // ring before may still read without it (confirm-takeover.ts).
  const isComplete = ports.store.marks(keyspace, partition)?.state === 'ready';
  if (duty.kind === 'SERVE' && !isComplete) throw filling(partition);
  if (outcome.kind === 'stale') return { kind: 'stale', ms: outcome.ms, tie: outcome.tie };
  return STORED;
}

/**
 * Reads a record, in a later turn if this turn has read enough. Throws what passFence and
 * requireServing throw.
 */
export function answerRead(
  ports: ReplicaPorts,
  request: RequestOf<typeof recordRead>,
  caller: Caller,
): MaybePromise<AnswerOf<typeof recordRead>> {
  return ports.longReads.run(() =>
    andThen(passFence(ports, request, caller), (passed) => {
      requireServing(ports, request, passed);
      return { record: recordHere(ports, request) };
    }),
  );
}

/** Throws unless the table names this device and the file here is complete. */
export function requireServing(
  ports: ReplicaPorts,
  { keyspace, partition }: { readonly keyspace: string; readonly partition: number },
  { active, duty }: Fenced,
): void {
  if (duty.kind !== 'SERVE') throw notResponsible(active, partition);
  if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
}

/**
 * Returns the stamp of what answerRead returns. Reads the whole row, since only that can be checked
 * against its hash: a stamp changed by the disk would hide an acknowledged write from a quorum.
 */
export function answerStamp(
  ports: ReplicaPorts,
  request: RequestOf<typeof recordStamp>,
  caller: Caller,
): MaybePromise<AnswerOf<typeof recordStamp>> {
  return andThen(answerRead(ports, request, caller), ({ record }) => ({
    stamp: record && { ms: record.ms, tie: record.tie },
  }));
}

/** Whether this device has this very record, or a newer one of its key. */
function isHere(store: Store, request: WriteRequest): boolean {
  if (store.marks(request.keyspace, request.partition) === null) return false;
  const held = store.read(request.keyspace, request.partition, request.key);
  return held !== null && compareStamps(held, request) >= 0;
}

/** The holders accept no new record this old. Passes what is here already. Throws STAMP_TOO_OLD. */
function checkBarrier(store: Store, request: WriteRequest): void {
  const { keyspace, partition, ms } = request;
  const barrierMs = store.marks(keyspace, partition)?.barrierMs ?? 0;
  if (ms > barrierMs || isHere(store, request)) return;
  const message = `timestamp ${formatStamp(request)} is not above ${barrierMs} ms`;
  const hint = 'the write took too long, or a clock is wrong: write again';
  throw new CodedError('STAMP_TOO_OLD', message, { hint, details: { barrierMs } });
}

/** Returns the record of a key here. A floor implies a tombstone of every key that is not here. */
export function recordHere(
  { store, longReads }: Pick<ReplicaPorts, 'store' | 'longReads'>,
  { keyspace, partition, key }: Omit<RequestOf<typeof recordRead>, 'ringVersion'>,
): WireContent | null {
  const record = store.read(keyspace, partition, key);
  if (record !== null) {
    longReads.note(record.value);
    return wireContent(record);
  }
  const floorMs = store.marks(keyspace, partition)?.floorMs ?? 0;
  return floorMs === 0 ? null : { value: null, ms: floorMs, tie: stampTieMax };
}

export function notResponsible(active: ActiveRing, partition: number): CodedError {
  const who = `device ${active.self ?? 'outside the ring'}`;
  const message = `${who} has no slot of partition ${partition} in version ${active.ring.version}`;
  return new CodedError('NOT_RESPONSIBLE', message, { details: { head: ringHead(active) } });
}

export function filling(partition: number): CodedError {
  return new CodedError('PARTITION_FILLING', `partition ${partition} is not complete here yet`);
}

export function roundName(target: { readonly keyspace: string; readonly key: Uint8Array }): string {
  return `${target.keyspace}/${byteText(target.key)}`;
}
