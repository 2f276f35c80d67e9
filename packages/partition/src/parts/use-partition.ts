// Work on the open file of one partition: what goes wrong is its damage, or the store's failure.
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { once } from '@ringwright/base/once';
import { placeName } from '../file/data-paths.ts';
import { newPartitionTables } from '../file/new-partition-file.ts';
import type { Partition } from '../file/partition.ts';
import { PartitionFile } from '../file/partition-file.ts';
import { damageError, isDamage, isStoreFailure } from '../file/sqlite-errors.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

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
    if (diskError(error) !== null || isStoreFailure(error)) parts.fail(error);
    throw parts.failure ?? error;
  }
}

/** As usePartition, after a wait: also throws PARTITION_ABSENT, and what `checkOpen` does. */
export function withFile<Result>(
  parts: StoreParts,
  partition: Partition,
  work: (file: PartitionFile) => Result,
): Result {
  checkThere(parts, partition);
  return usePartition(parts, partition, work);
}

export function checkThere(parts: StoreParts, partition: Partition): void {
  checkOpen(parts);
  if (partition.gone) throw dropped(partition);
}

export function dropped(partition: Partition, cause?: unknown): CodedError {
  const message = `${placeName(partition)} was dropped, or replaced by another copy, meanwhile`;
  return new CodedError('PARTITION_ABSENT', message, { cause });
}

/** As readPartitionFile, for a request: these are counted. */
export function readForRequest<T>(
  parts: Pick<StoreParts, 'files' | 'fail' | 'failure'>,
  partition: Partition,
  read: (file: PartitionFile) => T,
): T {
  partition.requests += 1;
  return readPartitionFile(parts, partition, read);
}

/** As usePartition for what only reads: one that is empty needs no file for it. */
export function readPartitionFile<T>(
  parts: Pick<StoreParts, 'files' | 'fail' | 'failure'>,
  partition: Partition,
  read: (file: PartitionFile) => T,
): T {
  return partition.hasFile ? usePartition(parts, partition, read) : read(emptyFile());
}

const emptyFile = once(
  () =>
    new PartitionFile(
      newPartitionTables({
        keyspace: 'none',
        partition: 0,
        incarnation: '-',
        life: '-',
        state: 'ready',
      }),
    ),
);
