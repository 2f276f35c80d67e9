// Disk space that a store uses, and what is free.
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { filesLookedAtPerTurn } from '@ringwright/base/limits-store';
import { dataPaths } from '../file/data-paths.ts';
import { seeFiles } from '../file/file-identity.ts';
import type { Partition } from '../file/partition.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

export function storeDisk(parts: StoreParts) {
  return {
    free: async () => {
      const { disk } = parts;
      return { freeBytes: await disk.freeBytes(), totalBytes: await disk.totalBytes() };
    },
    /**
     * Bytes that a copy of each usable partition has to carry: file and WAL as they are on the
     * disk. 0 for a partition without a file.
     */
    fileBytes: (keyspace: string) => fileBytes(parts, keyspace),
  };
}

/** Makes two system calls per partition, on this thread in short turns. */
async function fileBytes(
  parts: StoreParts,
  keyspace: string,
): Promise<[partition: number, bytes: number][]> {
  checkOpen(parts);
  const found: [number, number][] = [];
  for (const partition of [...parts.registry.all()]) {
    if (partition.keyspace !== keyspace || partition.gone || partition.damage !== null) continue;
    found.push([partition.partition, bytesOnDisk(parts.root, partition)]);
    if (found.length % filesLookedAtPerTurn === 0) await setImmediate();
  }
  return found;
}

/** Makes two system calls. */
export function bytesOnDisk(root: string, place: Partition): number {
  const { keyspace, partition, incarnation, hasFile } = place;
  if (!hasFile) return 0;
  const home = join(dataPaths.partition(root, keyspace, partition), incarnation);
  const { data, wal } = seeFiles(join(home, 'data.db'));
  return (data?.bytes ?? 0) + (wal?.bytes ?? 0);
}
