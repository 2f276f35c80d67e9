// Copies that the process beside the store carries, for whoever has the store.
import type { PartitionPlace } from '../file/data-paths.ts';
import { partitionOf, type StoreParts } from '../parts/store-parts.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { giveCopy } from './given-copy.ts';
import { type PackedPartition, packPartition, unpackPartition } from './packed-partition.ts';
import { roomFor } from './staged-copy.ts';
import { takeCopy } from './taken-copy.ts';

export function storeCopies(parts: StoreParts) {
  return {
    /**
     * The file as it is now, for the process of another server, encrypted on the way; release it
     * after use. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
     */
    give: (place: PartitionPlace) => giveCopy(parts, partitionOf(parts, place)),
    /**
     * Begins to take a copy for a partition that exists here; `key`: of its checksum. Throws
     * PARTITION_ABSENT, COPY_INVALID for a description that cannot be, DISK_FULL before the first
     * byte.
     */
    take: async (description: CopyDescription, key: string) =>
      takeCopy(parts, partitionOf(parts, description), { about: description, key }),
    /** Throws DISK_FULL with both numbers when a copy of so many bytes cannot be received now. */
    requireRoom: async (bytes: number): Promise<void> => (await roomFor(parts, bytes)).release(),
    /** See packPartition. Throws PARTITION_ABSENT too. */
    pack: (place: PartitionPlace) => packPartition(parts, partitionOf(parts, place)),
    /** See unpackPartition. Throws PARTITION_ABSENT too. */
    unpack: async (packed: PackedPartition) =>
      unpackPartition(parts, partitionOf(parts, packed), packed),
    /** Before the first request: the processes beside the store start without holding it then. */
    parkProcesses: (): void => {
      for (const process of [parts.audits, parts.copies, parts.carrier]) process.park();
    },
    /** Copies will be given, or taken, soon: the process that gives, or audits, them is started. */
    prepare: ({ gives, takes }: { readonly gives: boolean; readonly takes: boolean }): void => {
      if (gives) parts.carrier.port().catch(() => undefined); // whoever needs it hears of it
      if (takes) parts.audits.prepare();
    },
    /** How fast they may be, in each direction. */
    setRate: (rate: number | null): void => parts.carrier.setRate(rate),
  };
}
