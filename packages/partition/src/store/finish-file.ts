// Marks a new partition's file as finished after its first sync. From then on the file counts, and
// the log need not keep all its writes.

import { filesSyncedAtOnce } from '@ringwright/base/limits-store';
import { mapConcurrent } from '@ringwright/base/map-concurrent';
import { dataPaths } from '../file/data-paths.ts';
import { lostError, whyPartitionLost } from '../file/lost-file.ts';
import { noSegment, noteSynced, type Partition } from '../file/partition.ts';
import { finishPartitionDirectory } from '../file/partition-directory.ts';
import type { StoreParts } from './store-parts.ts';

type FinishParts = Pick<StoreParts, 'root' | 'mutex' | 'empties'>;

/** Key of the mutex that all writers of CURRENT take. */
export function currentTurn({ keyspace, partition }: Partition): string {
  return `CURRENT of ${keyspace}/${partition}`;
}

/**
 * For a file that a checkpoint has synced. First the folder becomes durable and counts, then the
 * line goes that makes the log keep everything, then the segments may go. After a crash both copies
 * exist, or one of them is whole.
 */
export function finishFile(parts: FinishParts, partition: Partition): Promise<void> {
  const { keyspace, partition: number } = partition;
  return parts.mutex.run(currentTurn(partition), async () => {
    if (!partition.isNew || partition.isDropped || partition.damage !== null) return;
    const home = dataPaths.partition(parts.root, keyspace, number);
    try {
      await finishPartitionDirectory(home, partition.incarnation);
    } catch (error) {
      const reason = whyPartitionLost(parts.root, partition);
      if (reason === null) throw error;
      partition.damage ??= lostError(partition, reason);
      return;
    }
    // failpoint: finish.counts
    await parts.empties.remove({ keyspace, partition: number });
    partition.isNew = false;
  });
}

/** Finishes the files of all partitions that were empty before, several at once. */
export async function finishFiles(
  parts: FinishParts & Pick<StoreParts, 'registry'>,
  isSynced: (partition: Partition) => boolean,
): Promise<void> {
  const newPartitions = [...parts.registry.all()].filter(
    ({ isNew, dirtySegment }) => isNew && dirtySegment !== noSegment,
  );
  await mapConcurrent(newPartitions, filesSyncedAtOnce, async (partition) => {
    if (partition.damage !== null || !isSynced(partition)) return;
    await finishFile(parts, partition);
    noteSynced(partition);
  });
}
