// Figures of partitions, for whoever has the store: what they take of its disk, and how much each
// is asked for. A request only adds one; the rest happens now and then.
import { setImmediate } from 'node:timers/promises';
import { filesLookedAtPerTurn, requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import { dataPaths } from '../file/data-paths.ts';
import { readFileIdentities } from '../file/file-identity.ts';
import type { Partition } from '../file/partition.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

export function storeDisk(parts: StoreParts) {
  return {
    free: async () => {
      const { disk } = parts;
      const { bytes: freeBytes, inodes: freeInodes } = await disk.free();
      const unwritable = parts.log.stall ?? (await disk.unwritable());
      return { freeBytes, totalBytes: await disk.totalBytes(), freeInodes, unwritable };
    },
    /** Why writes wait: the disk hangs. Null: it does not. */
    stall: () => parts.log.stall,
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
    if (partition.keyspace !== keyspace || partition.isDropped || partition.damage !== null)
      continue;
    found.push([partition.partition, bytesOnDisk(parts.root, partition)]);
    if (found.length % filesLookedAtPerTurn === 0) await setImmediate();
  }
  return found;
}

/** Makes two system calls. */
export function bytesOnDisk(root: string, partition: Partition): number {
  if (!partition.hasFile) return 0;
  const { data, wal } = readFileIdentities(dataPaths.file(root, partition));
  return (data?.bytes ?? 0) + (wal?.bytes ?? 0);
}

export function storeRequests(parts: Pick<StoreParts, 'registry' | 'closed'>) {
  const { registry } = parts;
  return {
    /**
     * To be called every few seconds; `passedMs`: time since the last call. Older requests count
     * for less, and a partition without a request since the last call drops its cached rows.
     * Returns false when the store is closed.
     */
    count: (passedMs: number): boolean => {
      const weight = 1 - 0.5 ** (passedMs / requestRateHalfLifeMs);
      for (const partition of registry.all()) {
        const rate = (partition.requests * 1_000) / passedMs;
        partition.requestRate += (rate - partition.requestRate) * weight;
        if (partition.requests === 0) partition.file?.rowCache.clear();
        partition.requests = 0;
        partition.requestsMs += passedMs;
      }
      return !parts.closed;
    },
    /** Recent requests per second of each partition that was measured for long enough. */
    rates: (keyspace: string): [partition: number, rate: number][] =>
      [...registry.all()]
        .filter((one) => one.keyspace === keyspace && one.requestsMs >= requestRateHalfLifeMs)
        .map(({ partition, requestRate }) => [partition, requestRate]),
  };
}
