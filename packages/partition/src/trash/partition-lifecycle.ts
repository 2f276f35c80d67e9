// The beginning and the end of a partition on this device. Both are one rename: never half done.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { dataPaths } from '../file/data-paths.ts';
import { seeFiles } from '../file/file-identity.ts';
import { newPartitionInfo } from '../file/new-partition-file.ts';
import { newPartition, type Partition } from '../file/partition.ts';
import { createPartitionDirectory } from '../file/partition-directory.ts';
import type { PartitionInfo, PartitionState } from '../file/partition-info.ts';
import { damageError, isDamage, isStoreFailure } from '../file/sqlite-errors.ts';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import { moveToTrash } from './trash.ts';

export function turnName(place: { keyspace: string; partition: number }): string {
  return `${place.keyspace}/${place.partition}`;
}

/** A new file has a new life: writes to an earlier one that the log still holds are not for it. */
export function createPartition(
  parts: StoreParts,
  wanted: { keyspace: string; partition: number; state: PartitionState },
): Promise<PartitionInfo> {
  return parts.mutex.run(turnName(wanted), async () => {
    const { keyspace, partition } = wanted;
    if (parts.registry.get(keyspace, partition) !== undefined) {
      throw new CodedError('PARTITION_EXISTS', `${keyspace}/${partition} has a file here already`, {
        details: { keyspace, partition },
      });
    }
    await parts.disk.require(0);
    checkOpen(parts);
    const incarnation = parts.newIncarnation();
    const life = incarnation;
    const staged = parts.stagingPath('create');
    // failpoint: create.before
    const made = { ...wanted, incarnation, life };
    await createPartitionDirectory(parts.root, staged, made);
    const entry = newPartition({ keyspace, partition, incarnation });
    // failpoint: create.made
    // It is opened when it is needed: for many a joiner's file a copy comes first.
    const info = newPartitionInfo(made);
    const home = dataPaths.partition(parts.root, keyspace, partition);
    entry.seen = seeFiles(join(home, incarnation, 'data.db'));
    entry.life = life;
    entry.isUntouched = true;
    entry.infoWhenClosed = info;
    parts.registry.add(entry);
    return info;
  });
}

/** Throws STORE_FAILED. */
export function openNew(parts: StoreParts, entry: Partition): PartitionInfo {
  try {
    return parts.files.use(entry).info();
  } catch (error) {
    // The folder is in its place but cannot be used: only reopening from disk sorts that out.
    parts.fail(error);
    throw parts.failure ?? error;
  }
}

export function dropPartition(
  parts: StoreParts,
  partition: Partition,
  atMs: number,
): Promise<void> {
  return parts.mutex.run(turnName(partition), async () => {
    checkOpen(parts);
    if (partition.gone) return;
    await syncFile(partition);
    checkOpen(parts);
    // From here on writes find nothing, also those that are in the log but not yet applied.
    partition.gone = true;
    parts.registry.remove(partition);
    try {
      parts.files.close(partition);
    } catch (error) {
      // The file goes to the trash as it is; its content is wanted no more.
      if (isStoreFailure(error)) parts.fail(error);
      partition.damage ??= damageError(error, partition);
      parts.files.abandon(partition);
    }
    const { keyspace, partition: number, incarnation } = partition;
    const directory = dataPaths.partition(parts.root, keyspace, number);
    try {
      // failpoint: drop.before-trash
      await moveToTrash(parts.root, directory, {
        atMs,
        keyspace,
        partition: number,
        incarnation,
      }).catch((error: unknown) => {
        // Somebody has deleted it: there is nothing to keep.
        if (existsSync(directory)) throw error;
      });
      // failpoint: drop.in-trash
    } catch (error) {
      parts.fail(error);
      throw parts.failure ?? error;
    }
  });
}

/** So that closing it has nothing to sync on this thread. */
async function syncFile(partition: Partition): Promise<void> {
  const { file, damage } = partition;
  if (file === null || damage !== null) return;
  partition.pins += 1;
  try {
    await file.checkpointAside();
  } catch (error) {
    if (!isDamage(error)) throw error;
    partition.damage ??= damageError(error, partition);
  } finally {
    partition.pins -= 1;
  }
}
