// Pages of partitions in key order, for requests.
import type { PartitionPlace } from '../file/data-paths.ts';
import { type KeyPageBounds, readKeyPage, sumKeyPage } from '../file/key-page.ts';
import { partitionOf, type StoreParts } from './store-parts.ts';
import { readForRequest } from './use-partition.ts';

export function storePages(parts: StoreParts) {
  return {
    /** Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED. */
    read: (place: PartitionPlace, bounds: KeyPageBounds) =>
      readForRequest(parts, partitionOf(parts, place), (file) => readKeyPage(file, bounds)),
    /** The same page without its values. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
    sum: (place: PartitionPlace, bounds: KeyPageBounds) =>
      readForRequest(parts, partitionOf(parts, place), (file) => sumKeyPage(file, bounds)),
  };
}
