// What is known about a partition file that can be used; a damaged file is waiting to be replaced.
import { CodedError } from '@ringwright/base/coded-error';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';

/** Returns null if there is no file here, or it cannot be used. */
export function usableInfo(
  store: Pick<Store, 'info'>,
  keyspace: string,
  partition: number,
): PartitionInfo | null {
  try {
    return store.info(keyspace, partition);
  } catch (error) {
    if (error instanceof CodedError && error.code === 'PARTITION_DAMAGED') return null;
    throw error;
  }
}
