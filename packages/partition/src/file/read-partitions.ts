// Finds the partitions of a data directory when it is opened, and what a crash left beside them.
import { setImmediate } from 'node:timers/promises';
import { dataPaths } from './data-paths.ts';
import type { OpenFiles } from './open-files.ts';
import { newPartition, type Partition } from './partition.ts';
import { listPartitionDirectories, readCurrent, removeLeftovers } from './partition-directory.ts';
import { Registry } from './registry.ts';
import { damageError, isDamage } from './sqlite-errors.ts';

/**
 * Opens every file once. Damaged ones are kept in the registry with the reason, and are not
 * touched.
 */
export async function readPartitions(root: string, files: OpenFiles): Promise<Registry> {
  const registry = new Registry();
  for (const place of await listPartitionDirectories(root)) {
    registry.add(await readPartition(root, place, files));
    await setImmediate();
  }
  return registry;
}

async function readPartition(
  root: string,
  place: { keyspace: string; partition: number; directory: string },
  files: OpenFiles,
): Promise<Partition> {
  const entry = newPartition({ ...place, incarnation: 'unknown' });
  try {
    entry.incarnation = await readCurrent(place.directory);
    const { incarnation } = entry;
    await removeLeftovers(place.directory, { incarnation, staging: dataPaths.staging(root) });
    files.use(entry);
  } catch (error) {
    if (!isDamage(error)) throw error;
    entry.damage = damageError(error, place);
  }
  return entry;
}
