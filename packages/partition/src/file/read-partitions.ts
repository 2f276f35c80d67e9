// Finds the partitions of a data directory at start, and what a crash left beside them.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { syncDirectory } from '@ringwright/node/durable-files';
import { checkNotOlder, readCheckpoints } from './checkpoints.ts';
import { dataPaths } from './data-paths.ts';
import type { EmptyPartition, EmptyPartitions } from './empty-partitions.ts';
import { newPartitionInfo } from './new-partition-file.ts';
import type { OpenFiles } from './open-files.ts';
import { newPartition, noteDamage, type Partition } from './partition.ts';
import {
  isFinished,
  listPartitionDirectories,
  type PartitionFolder,
  readCurrent,
  removeLeftovers,
  syncPartitionNames,
} from './partition-directory.ts';
import { Registry } from './registry.ts';
import type { OnStep } from './start-step.ts';

/**
 * Opens every file once. Damaged files stay untouched; the registry has them with the reason. An
 * unfinished folder is removed: the log has all its content.
 */
export async function readPartitions(
  root: string,
  {
    files,
    empties,
    onStep,
  }: {
    readonly files: OpenFiles;
    readonly empties: EmptyPartitions;
    readonly onStep: OnStep;
  },
): Promise<Registry> {
  const registry = new Registry();
  const checkpoints = await readCheckpoints(root);
  const folders = await listPartitionDirectories(root);
  await syncPartitionNames(root);
  for (const [index, folder] of folders.entries()) {
    if (await isUnfinished(folder, empties)) await removeUnfinished(root, folder.directory);
    else {
      // Without its line only CURRENT counts, whose rename a killed process may not have synced.
      if (empties.get(folder) !== undefined) await syncDirectory(folder.directory);
      await empties.remove(folder);
      const partition = await readPartition(root, folder, files);
      checkNotOlder(root, partition, checkpoints);
      if (partition.damage !== null) files.abandon(partition);
      registry.add(partition);
    }
    onStep({ doing: 'reading partition folders', done: index + 1, partitions: folders.length });
    await setImmediate();
  }
  for (const empty of empties.all()) registry.add(emptyPartition(empty));
  return registry;
}

/** Returns a partition without a file; it gets one when there is something to store. */
export function emptyPartition({ keyspace, partition, life, state }: EmptyPartition): Partition {
  const entry = newPartition({ keyspace, partition, incarnation: life });
  entry.life = life;
  entry.hasFile = false;
  entry.infoWhenClosed = newPartitionInfo({ keyspace, partition, state, incarnation: life, life });
  return entry;
}

/**
 * Whether a crash left the folder before it counted. Its line among the empty partitions then has
 * its state.
 */
export async function isUnfinished(
  folder: PartitionFolder,
  empties: EmptyPartitions,
): Promise<boolean> {
  return empties.get(folder) !== undefined && !(await isFinished(folder.directory));
}

async function removeUnfinished(root: string, directory: string): Promise<void> {
  const stagingPath = join(dataPaths.staging(root), 'unfinished');
  await rename(directory, stagingPath);
  await rm(stagingPath, { recursive: true, force: true });
}

async function readPartition(
  root: string,
  folder: PartitionFolder,
  files: OpenFiles,
): Promise<Partition> {
  const entry = newPartition({ ...folder, incarnation: 'unknown' });
  try {
    entry.incarnation = await readCurrent(folder.directory);
    const { incarnation } = entry;
    await removeLeftovers(folder.directory, { incarnation, staging: dataPaths.staging(root) });
    files.use(entry);
  } catch (error) {
    noteDamage(entry, error);
  }
  return entry;
}
