// The copies of a store: sending, receiving, packing and unpacking partition files.
import type { PartitionRef } from '../file/data-paths.ts';
import { partitionOf, type StoreParts } from '../store/store-parts.ts';
import { receiveByCarrier } from './carrier-copy.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { sendCopy } from './outgoing-copy.ts';
import { type PackedPartition, packPartition, unpackPartition } from './packed-partition.ts';
import { roomFor } from './staged-copy.ts';

export function storeCopies(parts: StoreParts) {
  return {
    /**
     * Offers the present file, encrypted on the way, to the carrier of another server. The caller
     * releases it after use. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
     */
    give: (ref: PartitionRef) => sendCopy(parts, partitionOf(parts, ref)),
    /**
     * Begins to receive a copy of a partition that exists here. `key`: of its keyed checksum.
     * Throws PARTITION_ABSENT, COPY_INVALID for an impossible description, DISK_FULL before the
     * first byte.
     */
    take: async (description: CopyDescription, key: string) =>
      receiveByCarrier(parts, partitionOf(parts, description), { about: description, key }),
    /** Throws DISK_FULL with both numbers when a copy of so many bytes cannot be received now. */
    requireRoom: async (bytes: number): Promise<void> => (await roomFor(parts, bytes)).release(),
    /** See packPartition. Also throws PARTITION_ABSENT. */
    pack: (ref: PartitionRef) => packPartition(parts, partitionOf(parts, ref)),
    /** See unpackPartition. Also throws PARTITION_ABSENT. */
    unpack: async (packed: PackedPartition) =>
      unpackPartition(parts, partitionOf(parts, packed), packed),
    /** Called before the first request, so that starting helper processes later delays none. */
    parkProcesses: (): void => {
      for (const process of [parts.audits, parts.copies, parts.carrier]) process.park();
    },
    /** Starts the helper processes for copies that will soon be given or taken. */
    prepare: ({ gives, takes }: { readonly gives: boolean; readonly takes: boolean }): void => {
      if (gives) parts.carrier.port().catch(() => undefined); // a later call reports the error
      if (takes) parts.audits.prepare();
    },
    /** Limits the bytes per second of copies, in each direction. */
    setRate: (rate: number | null): void => parts.carrier.setRate(rate),
  };
}
