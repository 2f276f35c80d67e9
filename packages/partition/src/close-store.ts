// Closes a store. After a clean close the partition files hold everything, and the log is empty.
import { setImmediate } from 'node:timers/promises';
import { lowerFlag } from '@ringwright/node/durable-flag';
import { dataPaths } from './file/data-paths.ts';
import { noteIfReplaced } from './file/lost-file.ts';
import { clean } from './file/partition.ts';
import { listSegments, removeSegments } from './log/log-segment.ts';
import { finishFiles } from './parts/finish-file.ts';
import type { StoreParts } from './parts/store-parts.ts';

/**
 * Rejects with STORE_FAILED when a file could not be checkpointed. The log then stays, and the next
 * start replays it.
 */
export async function closeStore(parts: StoreParts): Promise<void> {
  const { log, files } = parts;
  using _ = parts.lock;
  await endWork(parts);
  for (const partition of parts.registry.all()) {
    if (partition.unstored !== null) orFail(parts, () => files.use(partition));
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
export async function endWork(parts: StoreParts): Promise<void> {
  const { log, mutex, audits, copies, carrier, checkpointer } = parts;
  parts.closed = true;
  await log.drained();
  await mutex.idle();
  audits.close();
  copies.close();
  carrier.close();
  await checkpointer.stop();
}

export function keepReplaced(parts: StoreParts): void {
  for (const partition of parts.registry.all()) {
    if (partition.damage !== null) orFail(parts, () => noteIfReplaced(parts.root, partition));
  }
}

export async function removeNeedlessLog({ root, registry, failure }: StoreParts): Promise<void> {
  const isNeeded = [...registry.all()].some(({ dirtySince }) => dirtySince !== clean);
  if (failure !== null || isNeeded) return;
  const directory = dataPaths.log(root);
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
