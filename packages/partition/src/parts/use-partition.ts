// Work on the open file of one partition: what goes wrong is its damage, or the store's failure.
import { assert } from '@ringwright/base/assert';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { damageError, isDamage, isSqliteError, isStoreFailure } from '../file/sqlite-errors.ts';
import type { StoreParts } from './store-parts.ts';

/** Throws PARTITION_DAMAGED, STORE_FAILED, and what `use` throws of its own. */
export function usePartition<T>(
  parts: Pick<StoreParts, 'files' | 'fail' | 'failure'>,
  partition: Partition,
  use: (file: PartitionFile) => T,
): T {
  assert(!partition.gone, 'the registry holds no dropped partition');
  if (partition.damage !== null) throw partition.damage;
  try {
    return use(parts.files.use(partition));
  } catch (error) {
    if (isDamage(error)) {
      partition.damage ??= damageError(error, partition);
      throw partition.damage;
    }
    if (isSqliteError(error) || isStoreFailure(error)) parts.fail(error);
    throw parts.failure ?? error;
  }
}
