// Finds the partitions of a data directory at start, and what a crash left beside them.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
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
} from './partition-directory.ts';
import { Registry } from './registry.ts';

/**
 * Opens every file once. Damaged files stay untouched; the registry has them with the reason. An
 * unfinished folder is removed: the log has all its content.
 */
export async function readPartitions(
  root: string,
  { files, empties }: { readonly files: OpenFiles; readonly empties: EmptyPartitions },
): Promise<Registry> {
  const registry = new Registry();
  for (const place of await listPartitionDirectories(root)) {
    if (await isUnfinished(place, empties)) await removeUnfinished(root, place.directory);
    else {
      await empties.remove(place);
      registry.add(await readPartition(root, place, files));
    }
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
  place: PartitionFolder,
  empties: EmptyPartitions,
): Promise<boolean> {
  return empties.get(place) !== undefined && !(await isFinished(place.directory));
}

async function removeUnfinished(root: string, directory: string): Promise<void> {
  const aside = join(dataPaths.staging(root), 'unfinished');
  await rename(directory, aside);
  await rm(aside, { recursive: true, force: true });
}

async function readPartition(
  root: string,
  place: PartitionFolder,
  files: OpenFiles,
): Promise<Partition> {
  const entry = newPartition({ ...place, incarnation: 'unknown' });
  try {
    entry.incarnation = await readCurrent(place.directory);
    const { incarnation } = entry;
    await removeLeftovers(place.directory, { incarnation, staging: dataPaths.staging(root) });
    files.use(entry);
  } catch (error) {
    noteDamage(entry, error);
  }
  return entry;
}
