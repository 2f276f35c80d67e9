// Takes records of a partition from a device, while a file here is filled: all behind a sequence,
// page by page; or, where an old file is still here, only those that it missed.
import { CodedError } from '@ringwright/base/coded-error';
import { listKeysMax } from '@ringwright/base/limits';
import { catchUpMissedShareMax, catchUpReadsAtOnce } from '@ringwright/base/limits-copies';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { compareStamps } from '@ringwright/base/stamp';
import { keysAfter } from '@ringwright/wire/listing';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { recordRead } from '@ringwright/wire/records';
import { type push, rowsSince } from '@ringwright/wire/replication';
import { type Holding, holdingAt } from '../peers/holdings.ts';
import type { ActivePartition } from '../rings/active-ring.ts';
import type { LoadPorts, LoadTask } from './load-task.ts';
import { requireFile, takeOverBallots } from './take-over-ballots.ts';

interface PullFrom {
  readonly device: number;
  /**
   * What is here already: the copied file's incarnation, and the sequence that the copy reaches.
   */
  readonly copied?: { readonly incarnation: string; readonly seq: number };
}

/**
 * Takes the device's records after a sequence until it has no more, with their own stamps.
 * Sequences are valid for one incarnation: if the device replaces its file, all its records are
 * taken.
 */
export async function pullRows(
  ports: LoadPorts,
  task: LoadTask,
  { device, copied }: PullFrom,
): Promise<void> {
  const { active, partition } = task;
  let [incarnation, since] = [copied?.incarnation ?? null, copied?.seq ?? 0];
  for (;;) {
    const answer = await askRows(ports, task, { device, since });
    if (since > 0 && answer.incarnation !== incarnation) {
      [incarnation, since] = [answer.incarnation, 0];
      continue;
    }
    incarnation = answer.incarnation;
    if (copied !== undefined) checkFloor(ports, task, answer.floorMs);
    await takeRows(ports, task, answer.rows);
    task.onProgress({});
    if (!answer.more) {
      // Null: a device of an older wire version, which does not say.
      if (answer.hasPromises !== false) await takeOverBallots(ports, { active, partition, device });
      return;
    }
    if (answer.lastSeq <= since) {
      const message = `d${device}: rows after ${since} end at ${answer.lastSeq}`;
      throw new CodedError('PEER_FAILED', message);
    }
    since = answer.lastSeq;
  }
}

/**
 * Throws PARTITION_FILLING if the source dropped tombstones after the copy here was taken: those
 * deletions would be missed.
 */
function checkFloor(
  { store }: Pick<LoadPorts, 'store'>,
  { active, partition }: Pick<LoadTask, 'active' | 'partition'>,
  floorMs: number,
): void {
  const copiedMs = store.marks(active.ring.keyspace, partition)?.floorMs ?? 0;
  if (floorMs <= copiedMs) return;
  const message = `tombstones of partition ${partition} were dropped while it was copied`;
  throw new CodedError('PARTITION_FILLING', message, { details: { floorMs, copiedMs } });
}

/** Asks for one page. Throws PARTITION_FILLING if the device is not complete. */
async function askRows(
  { devices }: Pick<LoadPorts, 'devices'>,
  { active, partition, move }: LoadTask,
  { device, since }: { readonly device: number; readonly since: number },
): Promise<AnswerOf<typeof rowsSince>> {
  const { keyspace, version: ringVersion } = active.ring;
  const assignment = move?.assignment ?? null;
  const request = { keyspace, ringVersion, partition, assignment };
  return devices.call({ active, device }, rowsSince, { ...request, since });
}

/**
 * Stores records under their own timestamps, durably when it resolves. Keys of other partitions
 * stay where they are: nobody looks for them here, and one that some file holds must not hold up
 * every load from it. A key that a round is deciding is waited for. Throws PARTITION_ABSENT, and
 * what a round throws.
 */
async function takeRows(
  { store, throttle, decide }: Pick<LoadPorts, 'store' | 'throttle' | 'decide'>,
  { active, partition }: ActivePartition,
  pushed: RequestOf<typeof push>['rows'],
): Promise<void> {
  const { keyspace } = active.ring;
  const rows = pushed.filter(({ key }) => active.partitionOf(key) === partition);
  await throttle.pass(rows.reduce((sum, { value }) => sum + (value?.length ?? 0), 0));
  const outcomes = await store.write(rows.map((row) => ({ keyspace, partition, ...row })));
  // failpoint: load.rows
  requireFile(outcomes, partition);
  for (const [index, { kind }] of outcomes.entries()) {
    const key = rows[index]?.key;
    if (kind === 'promised' && key !== undefined) await decide(keyspace, key);
  }
}

/**
 * Returns null if a whole copy is better: there is no old file here, it lacks too much, or the
 * source has dropped tombstones that it never saw. Otherwise the file here has every record that
 * the source had when this began, and the result is what the source held then.
 */
export async function catchUpFile(
  ports: LoadPorts,
  task: LoadTask,
  device: number,
): Promise<Holding> {
  const { active, partition } = task;
  const ownInfo = ports.store.info(active.ring.keyspace, partition);
  if (task.isReturning !== true || ownInfo === null || ownInfo.rows === 0) return null;
  const holding = await holdingAt(ports.devices, task, device);
  if (holding?.state !== 'ready' || holding.floorMs > ownInfo.floorMs) return null;
  const missedMax = Math.floor(holding.rows * catchUpMissedShareMax);
  if (holding.rows - ownInfo.rows > missedMax) return null;
  if (holding.digest === ownInfo.digest) return holding;
  const missed = await listMissed(ports, task, { device, most: missedMax });
  if (missed === null) return null;
  await takeRecords(ports, task, { device, keys: missed });
  return holding;
}

/** Returns the keys that are newer at the source; null if they are more than `missedMax`. */
async function listMissed(
  { store, devices }: LoadPorts,
  { active, partition, onProgress }: LoadTask,
  { device, most: missedMax }: { readonly device: number; readonly most: number },
): Promise<Uint8Array[] | null> {
  const { keyspace, version: ringVersion } = active.ring;
  const request = { keyspace, ringVersion, partition, limit: listKeysMax, nowMs: 0 };
  const missed: Uint8Array[] = [];
  let after: Uint8Array = new Uint8Array();
  for (;;) {
    const { keys, more } = await devices.call({ active, device }, keysAfter, { ...request, after });
    for (const [key, ms, tie] of keys) {
      const ownRecord = store.read(keyspace, partition, key);
      if (ownRecord === null || compareStamps(ownRecord, { ms, tie }) < 0) missed.push(key);
      after = key;
    }
    if (missed.length > missedMax) return null;
    onProgress({}); // throws if the load was stopped
    if (!more) return missed;
  }
}

async function takeRecords(
  ports: LoadPorts,
  { active, partition, onProgress }: LoadTask,
  { device, keys }: { readonly device: number; readonly keys: readonly Uint8Array[] },
): Promise<void> {
  const { keyspace, version: ringVersion } = active.ring;
  await mapConcurrent(keys, catchUpReadsAtOnce, async (key) => {
    const request = { keyspace, ringVersion, partition, key };
    const { record } = await ports.devices.call({ active, device }, recordRead, request);
    if (record !== null) await takeRows(ports, { active, partition }, [{ key, ...record }]);
    onProgress({});
  });
}
