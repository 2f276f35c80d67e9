// Ends a store: after a clean close the partition files hold everything and the log is empty.
import { setImmediate } from 'node:timers/promises';
import { dataPaths } from './file/data-paths.ts';
import { noteIfReplaced } from './file/lost-file.ts';
import { clean } from './file/partition.ts';
import { listSegments, removeSegments } from './log/log-segment.ts';
import type { StoreParts } from './parts/store-parts.ts';

/**
 * Rejects with STORE_FAILED when a file could not be checkpointed; the log then stays and is
 * replayed.
 */
export async function closeStore(parts: StoreParts): Promise<void> {
  const { log, mutex, audits, copies, carrier, checkpointer, files, registry, root, lock } = parts;
  parts.closed = true;
  try {
    await log.drained();
    await mutex.idle();
    audits.close();
    copies.close();
    carrier.close();
    await checkpointer.stop();
    for (const partition of [...files.all()]) {
      if (parts.failure !== null || partition.damage !== null) files.abandon(partition);
      else {
        orFail(parts, () => files.close(partition));
        // Where it could not be closed as it should be.
        files.abandon(partition);
      }
      await setImmediate();
    }
    for (const partition of registry.all()) {
      if (partition.damage !== null) orFail(parts, () => noteIfReplaced(root, partition));
    }
    await log.close();
    const needed = [...registry.all()].some(({ dirtySince }) => dirtySince !== clean);
    if (parts.failure === null && !needed) {
      const directory = dataPaths.log(root);
      await removeSegments(directory, await listSegments(directory));
    }
  } finally {
    lock.release();
  }
  if (parts.failure !== null) throw parts.failure;
}

function orFail(parts: StoreParts, work: () => void): void {
  try {
    work();
  } catch (error) {
    parts.fail(error);
  }
}
