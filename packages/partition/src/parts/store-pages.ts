// Pages of partitions in the order of key bytes, for requests.
import {
  type KeyPage,
  type KeyPageBounds,
  type KeyPageSum,
  readKeyPage,
  sumKeyPage,
} from '../file/key-page.ts';
import { partitionOf, type StoreParts } from './store-parts.ts';
import { readForRequest } from './use-partition.ts';

interface PagedPartition {
  readonly keyspace: string;
  readonly partition: number;
}

export interface StorePages {
  /** Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED. */
  readonly read: (partition: PagedPartition, bounds: KeyPageBounds) => KeyPage;
  /** The same page without its values. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
  readonly sum: (partition: PagedPartition, bounds: KeyPageBounds) => KeyPageSum;
}

export function storePages(parts: StoreParts): StorePages {
  return {
    read: (partition, bounds) =>
      readForRequest(parts, partitionOf(parts, partition), (file) => readKeyPage(file, bounds)),
    sum: (partition, bounds) =>
      readForRequest(parts, partitionOf(parts, partition), (file) => sumKeyPage(file, bounds)),
  };
}
