// Takes a small partition as records: its file would be far more work.
import { CodedError } from '@ringwright/base/coded-error';
import { digestOfRecords } from '@ringwright/partition/file/record-bytes';
import type { Store } from '@ringwright/partition/store';
import type { AnswerOf } from '@ringwright/wire/message';
import type { rowsSince } from '@ringwright/wire/replication';
import { smallBounds } from '../copies/small-partition.ts';
import type { LoadPorts, LoadTask } from './load-partition.ts';
import { askRows, takePromisesBehind } from './pull-rows.ts';
import { takeRows } from './take-rows.ts';

type Rows = AnswerOf<typeof rowsSince>;

/**
 * All records of the device, compared with the digest that it has of them. When it resolves they
 * are durable here, and so is the floor that stands for tombstones it has dropped. False, and none
 * was kept, when the file must come: the partition is small no more, or a record here is older than
 * that floor, and may have been deleted. Throws COPY_INVALID for other records than the digest is
 * of.
 */
export async function takeSmall(
  ports: LoadPorts,
  task: LoadTask,
  device: number,
): Promise<boolean> {
  const answer = await askRows(ports, task, { device, since: 0 });
  const { rows, floorMs, digest } = answer;
  if (answer.more || !(await isAbove(ports.store, task, floorMs))) return false;
  if (digest !== null) checkDigest(task, { device, rows, digest });
  await takeRows(ports, task, rows);
  // failpoint: load.small-taken
  await carryFloor(ports.store, task, floorMs);
  const bytes = rows.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
  const copiesVerified = digest === null ? 0 : 1;
  task.onProgress({ stage: 'catching-up', rows: rows.length, bytes, copiesVerified });
  await takePromisesBehind(ports, task, { device, answer });
  return true;
}

type Place = Pick<LoadTask, 'active' | 'partition'>;

/** Whether all that is here is younger than the floor; what comes from now on is. */
async function isAbove(store: Store, { active, partition }: Place, ms: number): Promise<boolean> {
  if (ms === 0) return true;
  const { keyspace } = active.ring;
  await store.promiseFloor(keyspace, partition, ms);
  // Not stampsSince: what waits in memory would be stored for it, and a new file made tables.
  const here = store.rowsSince(keyspace, partition, 0, smallBounds);
  return !here.more && here.rows.every((row) => row.ms > ms);
}

/** Behind the records: it would keep out those of them that are older. */
async function carryFloor(store: Store, { active, partition }: Place, ms: number): Promise<void> {
  const marks = { barrierMs: ms, floorMs: ms };
  if (ms > 0) await store.carryMarks(active.ring.keyspace, partition, marks);
}

function checkDigest(
  { active, partition }: Place,
  { device, rows, digest }: Pick<Rows, 'rows'> & { device: number; digest: string },
): void {
  const found = digestOfRecords(rows);
  if (found === digest) return;
  const what = `${rows.length} records of ${active.ring.keyspace}/${partition} from d${device}`;
  const message = `${what} have the digest ${found}, the source says ${digest}`;
  const hint = 'none of them was kept, and they are asked for again';
  throw new CodedError('COPY_INVALID', message, { hint });
}
