// Ends a store: after a clean close the partition files hold everything and the log is empty. One
// that is left together with its process keeps in the log what there is no time for.
import { setImmediate } from 'node:timers/promises';
import { filesSyncedAtOnce } from '@ringwright/base/limits-store';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { lowerFlag } from '@ringwright/node/durable-flag';
import { writeCheckpoints } from './file/checkpoints.ts';
import { dataPaths } from './file/data-paths.ts';
import { noteIfReplaced } from './file/lost-file.ts';
import { noSegment, noteSynced, type Partition } from './file/partition.ts';
import { damageError, isDamage } from './file/sqlite-errors.ts';
import { listSegments, removeSegments } from './log/log-segment.ts';
import { damageOf } from './store/check-open-files.ts';
import { finishFile, finishFiles } from './store/finish-file.ts';
import type { StoreParts } from './store/store-parts.ts';

/**
 * Rejects with STORE_FAILED when a file could not be checkpointed. The log then stays, and the next
 * start replays it.
 */
export async function closeStore(parts: StoreParts): Promise<void> {
  const { log, files } = parts;
  using _ = parts.lock;
  await endWork(parts);
  for (const partition of parts.registry.all()) {
    if (partition.pendingMarks !== null) orFail(parts, () => files.use(partition));
  }
  for (const partition of [...files.all()]) {
    if (parts.failure !== null || partition.damage !== null) files.abandon(partition);
    else {
      orFail(parts, () => files.close(partition));
      // Has an effect only if the file could not be closed properly.
      files.abandon(partition);
    }
    await setImmediate();
  }
  if (parts.failure === null) await finishFiles(parts, ({ file }) => file === null);
  keepReplaced(parts);
  await log.close();
  await removeNeedlessLog(parts);
  await parts.empties.close();
  if (parts.failure !== null) throw parts.failure;
}

/** Accepts no more calls, and waits for work in flight. */
async function endWork(parts: StoreParts): Promise<void> {
  const { log, mutex, audits, copies, carrier, checkpointer } = parts;
  parts.closed = true;
  await log.drained();
  await mutex.idle();
  audits.close();
  copies.close();
  carrier.close();
  await checkpointer.stop();
}

function keepReplaced(parts: StoreParts): void {
  for (const partition of parts.registry.all()) {
    if (partition.damage !== null) orFail(parts, () => noteIfReplaced(parts.root, partition));
  }
}

async function removeNeedlessLog({ root, registry, failure }: StoreParts): Promise<void> {
  const isNeeded = [...registry.all()].some(({ dirtySegment }) => dirtySegment !== noSegment);
  if (failure !== null || isNeeded) return;
  const directory = dataPaths.log(root);
  await writeCheckpoints(root, registry);
  await lowerFlag(dataPaths.logInUse(root));
  // failpoint: close.log-unused
  await removeSegments(directory, await listSegments(directory));
}

function orFail(parts: StoreParts, work: () => void): void {
  try {
    work();
  } catch (error) {
    parts.fail(error);
  }
}

/**
 * Nothing is closed: the system does that, and SQLite would sync each file on this thread. Begins
 * no checkpoint after `withinMs`. True when the files hold everything, and the log is empty.
 * The directory stays locked until the process ends. Rejects with STORE_FAILED.
 */
export async function exitStore(parts: StoreParts, withinMs: number): Promise<boolean> {
  await endWork(parts);
  const endsAt = performance.now() + withinMs;
  const openPartitions = [...parts.files.all()];
  // Checked even if no time is left: the next start would use a file that took another's place.
  for (const partition of openPartitions) lookAt(parts, partition);
  await mapConcurrent(openPartitions, filesSyncedAtOnce, async (partition) => {
    if (parts.failure !== null || performance.now() > endsAt) return;
    await checkpointFile(parts, partition);
  });
  keepReplaced(parts);
  await parts.log.close();
  await removeNeedlessLog(parts);
  await parts.empties.close();
  if (parts.failure !== null) throw parts.failure;
  return [...parts.registry.all()].every(({ dirtySegment }) => dirtySegment === noSegment);
}

/** Marks a file that its name no longer leads to as damaged, and keeps its log segments. */
function lookAt(parts: StoreParts, partition: Partition): void {
  try {
    partition.damage ??= damageOf(parts.root, partition);
  } catch (error) {
    parts.fail(error);
  }
}

/** Writes the rows, changes and watermarks into the file, and syncs the file in the thread pool. */
async function checkpointFile(parts: StoreParts, partition: Partition): Promise<void> {
  const { file, damage } = partition;
  if (file === null || damage !== null) return;
  try {
    if (partition.dirtySegment === noSegment && file.unflushed === 'nothing') return;
    // failpoint: leave.before-checkpoint
    if (await parts.files.use(partition).checkpointInPool()) {
      await finishFile(parts, partition);
      noteSynced(partition);
    }
    await setImmediate();
  } catch (error) {
    if (isDamage(error)) partition.damage ??= damageError(error, partition);
    else parts.fail(error);
  }
}
