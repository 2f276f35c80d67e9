// Creates a partition on this device with one line, and drops it with one rename. Neither is ever
// half done.
import { must } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { dataPaths, type PartitionRef, partitionName } from '../file/data-paths.ts';
import { noteDamage, type Partition } from '../file/partition.ts';
import type { PartitionInfo, PartitionState } from '../file/partition-info.ts';
import { emptyPartition } from '../file/read-partitions.ts';
import { currentTurn } from '../store/finish-file.ts';
import { leaveMirror } from '../store/mirrors.ts';
import { checkOpen, failed, type StoreParts } from '../store/store-parts.ts';
import { moveToTrash } from './trash.ts';

/**
 * A new partition gets a new lifetime: writes to an earlier one that the log still has do not reach
 * it. Its file is created when there is something to store.
 */
export function createPartition(
  parts: StoreParts,
  request: PartitionRef & { readonly state: PartitionState },
): Promise<PartitionInfo> {
  return parts.mutex.run(partitionName(request), async () => {
    const { keyspace, partition } = request;
    if (parts.registry.get(keyspace, partition) !== undefined) {
      throw new CodedError('PARTITION_EXISTS', `${keyspace}/${partition} has a file here already`, {
        details: { keyspace, partition },
      });
    }
    await parts.disk.require();
    checkOpen(parts);
    const empty = { ...request, life: parts.newIncarnation() };
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
    // The folder is in place but unusable: only reopening from disk can resolve that.
    throw failed(parts, error);
  }
}

/**
 * Durable when it resolves. The folder is moved as it is, with its WAL not checkpointed: only the
 * names of the folders are synced.
 */
export function dropPartition(
  parts: StoreParts,
  partition: Partition,
  atMs: number,
): Promise<void> {
  return parts.mutex.run(partitionName(partition), async () => {
    checkOpen(parts);
    if (partition.isDropped) return;
    storeRest(parts, partition);
    // From here on writes find no partition, including those in the log that are not applied yet.
    partition.isDropped = true;
    parts.registry.leave(partition);
    leaveMirror(parts, partition);
    // The file stays open until its folder is moved: closing it in place would make SQLite sync it.
    partition.pinCount += 1;
    partition.file?.wal.giveUp();
    try {
      await parts.mutex.run(currentTurn(partition), () => moveAway(parts, partition, atMs));
      parts.files.discard(partition);
    } catch (error) {
      throw failed(parts, error);
    }
    parts.registry.left(partition);
  });
}

/**
 * Flushes what waits in memory, so that the trash has it; a damaged file goes there as it is. A
 * changed state alone is not stored, since a restored file is always filling.
 */
function storeRest({ files }: StoreParts, partition: Partition): void {
  const { file, damage, pendingMarks } = partition;
  const closedHasAll = pendingMarks === null || pendingMarks.barrierMs + pendingMarks.floorMs === 0;
  const openHasAll = file?.unflushed !== 'more' && file?.isInMemory !== true;
  const hasAll = file === null ? closedHasAll : openHasAll;
  if (hasAll || damage !== null) return;
  try {
    files.use(partition).flush();
  } catch (error) {
    noteDamage(partition, error);
  }
}

/** The line of a new partition goes last: until then a start finds the partition, and its log. */
async function moveAway(parts: StoreParts, partition: Partition, atMs: number): Promise<void> {
  const { keyspace, partition: number, incarnation } = partition;
  const directory = dataPaths.partition(parts.root, keyspace, number);
  // failpoint: drop.before-trash
  await moveToTrash(parts.root, directory, { atMs, keyspace, partition: number, incarnation });
  // failpoint: drop.in-trash
  await parts.empties.remove(partition);
}
