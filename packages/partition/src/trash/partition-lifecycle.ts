// The beginning and the end of a partition on this device: a line, and one rename. Never half done.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { dataPaths, placeName } from '../file/data-paths.ts';
import { noteDamage, type Partition } from '../file/partition.ts';
import type { PartitionInfo, PartitionState } from '../file/partition-info.ts';
import { emptyPartition } from '../file/read-partitions.ts';
import { currentTurn } from '../parts/finish-file.ts';
import { leaveMirror } from '../parts/mirrors.ts';
import { checkOpen, failed, type StoreParts } from '../parts/store-parts.ts';
import { moveToTrash } from './trash.ts';

/**
 * A new partition has a new life: writes to an earlier one that the log still holds are not for it.
 * Its file is made when there is something to store.
 */
export function createPartition(
  parts: StoreParts,
  wanted: { keyspace: string; partition: number; state: PartitionState },
): Promise<PartitionInfo> {
  return parts.mutex.run(placeName(wanted), async () => {
    const { keyspace, partition } = wanted;
    if (parts.registry.get(keyspace, partition) !== undefined) {
      throw new CodedError('PARTITION_EXISTS', `${keyspace}/${partition} has a file here already`, {
        details: { keyspace, partition },
      });
    }
    await parts.disk.require(0);
    checkOpen(parts);
    const empty = { ...wanted, life: parts.newIncarnation() };
    // failpoint: create.before
    await parts.empties.put(empty).catch(parts.fail);
    checkOpen(parts);
    // failpoint: create.made
    const entry = emptyPartition(empty);
    parts.registry.add(entry);
    return must(entry.infoWhenClosed, 'known of an empty partition');
  });
}

/** Throws STORE_FAILED. */
export function openNew(parts: StoreParts, entry: Partition): PartitionInfo {
  try {
    return parts.files.use(entry).info();
  } catch (error) {
    // The folder is in its place but cannot be used: only reopening from disk sorts that out.
    throw failed(parts, error);
  }
}

/**
 * Durable when it resolves. The folder is moved as it is, with a WAL that no checkpoint has moved
 * into its file: nothing is synced for the trash but the names of its folders.
 */
export function dropPartition(
  parts: StoreParts,
  partition: Partition,
  atMs: number,
): Promise<void> {
  return parts.mutex.run(placeName(partition), async () => {
    checkOpen(parts);
    if (partition.gone) return;
    storeRest(parts, partition);
    // From here on writes find nothing, also those that are in the log but not yet applied.
    partition.gone = true;
    parts.registry.leave(partition);
    leaveMirror(parts, partition);
    // Open until its folder is moved: SQLite would sync a file that it closes in its place.
    partition.pins += 1;
    partition.file?.wal.giveUp();
    try {
      await parts.mutex.run(currentTurn(partition), () => moveAway(parts, partition, atMs));
      parts.files.letGo(partition);
    } catch (error) {
      throw failed(parts, error);
    }
    parts.registry.left(partition);
  });
}

/**
 * So that the trash has what waits in memory; what is damaged goes there as it is. A state alone is
 * not stored, since whatever comes back from the trash is filling.
 */
function storeRest({ files }: StoreParts, partition: Partition): void {
  const { file, damage, unstored } = partition;
  const closedHasAll = unstored === null || unstored.barrierMs + unstored.floorMs === 0;
  const openHasAll = file?.unflushed !== 'more' && file?.isInMemory !== true;
  const hasAll = file === null ? closedHasAll : openHasAll;
  if (hasAll || damage !== null) return;
  try {
    files.use(partition).flush();
  } catch (error) {
    noteDamage(partition, error);
  }
}

/** The line of one that is new goes last: until then a start finds a partition, and its log. */
async function moveAway(parts: StoreParts, partition: Partition, atMs: number): Promise<void> {
  const { keyspace, partition: number, incarnation } = partition;
  const directory = dataPaths.partition(parts.root, keyspace, number);
  // failpoint: drop.before-trash
  await moveToTrash(parts.root, directory, { atMs, keyspace, partition: number, incarnation });
  // failpoint: drop.in-trash
  await parts.empties.remove(partition);
}
