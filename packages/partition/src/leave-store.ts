// Ends a store together with its process: checkpoints what time allows and leaves the rest in the
// log. Closes no file: the operating system does that, while SQLite would sync each file on this
// thread.
import { setImmediate } from 'node:timers/promises';
import { inWaves } from '@ringwright/base/in-waves';
import { filesSyncedAtOnce } from '@ringwright/base/limits-store';
import { endWork, keepReplaced, removeNeedlessLog } from './close-store.ts';
import { clean, noteSynced, type Partition } from './file/partition.ts';
import { damageError, isDamage } from './file/sqlite-errors.ts';
import { finishFile } from './parts/finish-file.ts';
import { damageOf } from './parts/look-at-files.ts';
import type { StoreParts } from './parts/store-parts.ts';

/**
 * Begins no checkpoint after `withinMs`. Resolves to true when the files hold everything and the
 * log is empty. The directory stays locked until the process ends. Rejects with STORE_FAILED.
 */
export async function leaveStore(parts: StoreParts, withinMs: number): Promise<boolean> {
  await endWork(parts);
  const endsAt = performance.now() + withinMs;
  const open = [...parts.files.all()];
  // Checked even if no time is left: the next start would use a file that took another's place.
  for (const partition of open) lookAt(parts, partition);
  await inWaves(open, filesSyncedAtOnce, async (partition) => {
    if (parts.failure !== null || performance.now() > endsAt) return;
    await settle(parts, partition);
  });
  keepReplaced(parts);
  await parts.log.close();
  await removeNeedlessLog(parts);
  await parts.empties.close();
  if (parts.failure !== null) throw parts.failure;
  return [...parts.registry.all()].every(({ dirtySince }) => dirtySince === clean);
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
async function settle(parts: StoreParts, partition: Partition): Promise<void> {
  const { file, damage } = partition;
  if (file === null || damage !== null) return;
  try {
    if (partition.dirtySince === clean && file.unflushed === 'nothing') return;
    // failpoint: leave.before-checkpoint
    if (await parts.files.use(partition).checkpointAside()) {
      await finishFile(parts, partition);
      noteSynced(partition);
    }
    await setImmediate();
  } catch (error) {
    if (isDamage(error)) partition.damage ??= damageError(error, partition);
    else parts.fail(error);
  }
}
