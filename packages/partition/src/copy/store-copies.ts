// Copies that the process beside the store carries, for whoever has the store.
import type { CopyRates } from '../carry/copy-process.ts';
import { partitionOf, type StoreParts } from '../parts/store-parts.ts';
import type { CopyDescription } from './copy-manifest.ts';
import { type GivenCopy, giveCopy } from './given-copy.ts';
import { type TakenCopy, takeCopy } from './taken-copy.ts';

export interface CopyPlace {
  readonly keyspace: string;
  readonly partition: number;
}

export interface StoreCopies {
  /**
   * The file as it is now, for the process of another server, encrypted on the way if `isHidden`;
   * release it after use. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
   */
  readonly give: (place: CopyPlace, isHidden: boolean) => GivenCopy;
  /**
   * Begins to take a copy for a partition that exists here; `key`: of its checksum. Throws
   * PARTITION_ABSENT, COPY_INVALID for a description that cannot be, DISK_FULL before the first
   * byte.
   */
  readonly take: (description: CopyDescription, key: string) => Promise<TakenCopy>;
  /** Copies will be given soon: the process that gives them is started. */
  readonly prepare: () => void;
  /** How fast they may be. */
  readonly setRates: (rates: CopyRates) => void;
}

export function storeCopies(parts: StoreParts): StoreCopies {
  return {
    give: (place, isHidden) => giveCopy(parts, partitionOf(parts, place), isHidden),
    take: async (description, key) =>
      takeCopy(parts, partitionOf(parts, description), { about: description, key }),
    prepare: () => {
      parts.carrier.port().catch(() => undefined); // whoever needs it hears of it
    },
    setRates: (rates) => parts.carrier.setRates(rates),
  };
}
