// Asks a device for the records of a partition, page by page, until it has no more.
import { CodedError } from '@ringwright/base/coded-error';
import type { AnswerOf } from '@ringwright/wire/message';
import { rowsSince } from '@ringwright/wire/replication';
import type { LoadPorts, LoadTask } from './load-partition.ts';
import { takePromises } from './take-promises.ts';
import { takeRows } from './take-rows.ts';

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
      if (answer.hasPromises !== false) await takePromises(ports, { active, partition, device });
      return;
    }
    if (answer.lastSeq <= since) {
      throw new CodedError(
        'PEER_FAILED',
        `d${device}: rows after ${since} end at ${answer.lastSeq}`,
      );
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
  const about = { keyspace, ringVersion, partition, assignment };
  return devices.call({ active, device }, rowsSince, { ...about, since });
}
