// This device's answers to replication: digests, offers, pushes, and rows for a joiner.
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { socketMessageBytesMax } from '@ringwright/base/limits';
import { compareStamps } from '@ringwright/base/stamp';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Caller } from '@ringwright/wire/call-channel';
import type { RequestOf } from '@ringwright/wire/message';
import {
  type digests,
  type offer,
  offerRowsMax,
  type promises,
  type push,
  type rowsSince,
  type tail,
} from '@ringwright/wire/replication';
import { checkClock } from '../clocks/check-clock.ts';
import type { Holding } from '../peers/holdings.ts';
import type { ActiveRing } from '../rings/active-ring.ts';
import {
  filling,
  notResponsible,
  passFence,
  type ReplicaAnswer,
  type ReplicaPorts,
  requireOwnPartition,
} from './replica.ts';
import { Turn } from './turn.ts';
import { wireContent } from './wire-record.ts';

const ROWS_BYTES_MAX = socketMessageBytesMax / 4;

export const answerDigests: ReplicaAnswer<typeof digests> = async (ports, request, caller) => {
  await ports.exchange.reach(request.keyspace, request.ringVersion, caller);
  const holdings: Holding[] = [];
  const turn = new Turn();
  for (const partition of request.partitions) {
    holdings.push(await holdingOf(ports.store, request, partition));
    if (turn.isOver) await turn.next();
  }
  return { holdings };
};

/**
 * Stands for a damaged file, which must not hide the others. All it says is that there were
 * records.
 */
const damagedHolding = {
  incarnation: 'damaged',
  state: 'lost',
  digest: '0'.repeat(16),
  rows: 0,
  seq: 1,
  floorMs: 0,
} as const;

async function holdingOf(
  store: ReplicaPorts['store'],
  { keyspace, recent: withRecent, nowMs }: RequestOf<typeof digests>,
  partition: number,
): Promise<Holding> {
  try {
    const info = store.info(keyspace, partition);
    if (info === null) return null;
    const { incarnation, state, digest, rows, seq, floorMs } = info;
    const holding = { incarnation, state, digest, rows, seq, floorMs };
    if (state !== 'ready') return holding;
    const recent = withRecent ? store.recent(keyspace, partition)?.spans : undefined;
    const sums = recent?.map(({ id, sum }): [number, string] => [id, sum]);
    // This may open the file.
    const expired = nowMs === undefined ? null : await store.expired(keyspace, partition, nowMs);
    return { ...holding, ...(sums && { recent: sums }), ...(expired !== null && { expired }) };
  } catch (error) {
    if (hasCode(error, 'PARTITION_DAMAGED')) return damagedHolding;
    throw error;
  }
}

export const answerTail: ReplicaAnswer<typeof tail> = async (ports, request, caller) => {
  await heldPartition(ports, request, caller);
  const { rows, ...file } = ports.store.peers.tail(request, request.rowsMax);
  return {
    ...file,
    rows: rows.map(({ key, ms, tie, hash }) => [key, ms, tie, hash.toString('hex')]),
  };
};

/**
 * Returns which of the offered records this device lacks or has older. Keys of other partitions are
 * never wanted, since no reader looks for them here. So such a key disappears with the file it is
 * in.
 */
export const answerOffer: ReplicaAnswer<typeof offer> = async (ports, request, caller) => {
  const { active, info } = await heldPartition(ports, request, caller);
  const { incarnation, floorMs } = info;
  const wanted = request.stamps.flatMap(([key, ms, tie], index) => {
    const held = ports.store.stampOf(request.keyspace, request.partition, key);
    const lacks = held === null ? ms > floorMs : compareStamps(held, { ms, tie }) < 0;
    return lacks && active.partitionOf(key) === request.partition ? [index] : [];
  });
  return { incarnation, wanted };
};

/**
 * Stores pushed records with their own stamps; durable when it resolves. Throws KEY_MISPLACED
 * before any is stored.
 */
export const answerPush: ReplicaAnswer<typeof push> = async (ports, request, caller) => {
  const { active, info } = await heldPartition(ports, request, caller);
  const { incarnation } = info;
  const { keyspace, partition } = request;
  for (const { key } of request.rows) requireOwnPartition(active, { partition, key }, caller);
  for (const row of request.rows) checkClock(ports.clock, row);
  const writes = request.rows.map((row) => ({ keyspace, partition, ...row }));
  const outcomes = await ports.inFlight.track(keyspace, partition, ports.store.write(writes));
  // failpoint: push.stored
  if (outcomes.some(({ kind }) => kind === 'absent')) throw filling(partition);
  const undecided = outcomes.flatMap(({ kind }, index) => (kind === 'promised' ? [index] : []));
  return { incarnation, undecided };
};

/**
 * Returns the promises that no record here has caught up with, after the writes under way have
 * ended.
 */
export const answerPromises: ReplicaAnswer<typeof promises> = async (ports, request, caller) => {
  await passFence(ports, request, caller);
  const { keyspace, partition, after } = request;
  await ports.inFlight.drained(keyspace, partition);
  if (ports.store.marks(keyspace, partition) === null) throw filling(partition);
  const ballots = ports.store
    .preparedBallots(keyspace, partition)
    .filter(({ key }) => Buffer.compare(key, after) > 0)
    .sort((a, b) => Buffer.compare(a.key, b.key));
  const page = ballots.slice(0, offerRowsMax);
  return {
    keys: page.map(({ key }) => key),
    stamps: page.map(({ ms, tie }): [number, number] => [ms, tie]),
    more: ballots.length > page.length,
  };
};

/** Returns records after a sequence, for a joiner that has a copy up to it. */
export const answerRows: ReplicaAnswer<typeof rowsSince> = async (ports, request, caller) => {
  await passFence(ports, request, caller);
  const { keyspace, partition, since } = request;
  await ports.inFlight.drained(keyspace, partition);
  const info = ports.store.info(keyspace, partition);
  // A device that refills asks for everything there is, and knows from digests that this is
  // incomplete.
  const isComplete = info?.state === 'ready' || request.assignment === null;
  if (info === null || !isComplete) throw filling(partition);
  const limits = { rowsMax: offerRowsMax, bytesMax: ROWS_BYTES_MAX };
  const { rows, lastSeq, more } = ports.store.rowsSince(keyspace, partition, since, limits);
  return {
    incarnation: info.incarnation,
    floorMs: info.floorMs,
    rows: rows.map((row) => ({ key: row.key, ...wireContent(row) })),
    lastSeq,
    more,
    hasPromises: ports.store.preparedBallots(keyspace, partition).length > 0,
  };
};

async function heldPartition(
  ports: ReplicaPorts,
  request: { readonly keyspace: string; readonly ringVersion: number; readonly partition: number },
  caller: Caller,
): Promise<{ readonly active: ActiveRing; readonly info: PartitionInfo }> {
  const { active, duty } = await passFence(ports, request, caller);
  if (duty.kind === 'UNLOAD') throw notResponsible(active, request.partition);
  const info = ports.store.info(request.keyspace, request.partition);
  if (info !== null) return { active, info };
  throw new CodedError('PARTITION_FILLING', `partition ${request.partition} has no file here yet`);
}
