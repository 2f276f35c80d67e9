// Removes the file that a copy has replaced, and makes the promises that came with the copy.
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { removeFiles } from '@ringwright/node/remove-files';
import { dataPaths } from '../file/data-paths.ts';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PreparedBallot } from '../file/record.ts';
import { queueWrites } from '../store/queue-writes.ts';
import type { StoreParts } from '../store/store-parts.ts';

/** What is left to clean up after the switch. */
export interface Replaced {
  /** The file in use until the switch; null: there was none. */
  readonly present: PartitionFile | null;
  /** Promises that came with the copy. */
  readonly promised: readonly PreparedBallot[];
}

/** `incarnation`: of the file in use until the switch. */
export async function clearAway(
  parts: StoreParts,
  partition: Partition,
  replaced: Replaced & { readonly incarnation: string },
): Promise<void> {
  const { present, incarnation, promised } = replaced;
  if (present !== null) {
    await setImmediate();
    present.wal.discard();
    const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
    if (!present.isInMemory) await removeOld(parts, home, incarnation);
  }
  await promiseAll(parts, partition, promised);
}

async function removeOld(parts: StoreParts, home: string, incarnation: string): Promise<void> {
  const stagingPath = parts.stagingPath('old');
  try {
    // Not synced: a folder that a crash restores beside CURRENT is removed at the next start.
    await rename(join(home, incarnation), stagingPath);
    // failpoint: copy-in.before-removal
    await removeFiles(stagingPath);
  } catch (error) {
    parts.fail(error);
  }
}

/**
 * Writes the source's promises through the log: the file gets them after the older rows. A crash
 * that loses them also ends the load, and the next load gets them again.
 */
async function promiseAll(
  parts: StoreParts,
  { keyspace, partition }: Partition,
  promises: readonly PreparedBallot[],
): Promise<void> {
  const ballotFields = { keyspace, partition, value: null, isPreparedBallot: true };
  if (promises.length === 0) return;
  await queueWrites(
    parts,
    promises.map(({ key, ms, tie }) => ({ ...ballotFields, key, ms, tie })),
  );
}
