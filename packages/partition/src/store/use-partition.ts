// Runs work on the open file of one partition. An error is the partition's damage or the store's
// failure.
import { assert } from '@ringwright/base/assert';
import { CodedError, hasCode } from '@ringwright/base/coded-error';
import { diskError } from '@ringwright/base/disk-error';
import { once } from '@ringwright/base/once';
import { partitionName } from '../file/data-paths.ts';
import { newTables } from '../file/new-partition-file.ts';
import { isEmpty, noteDamage, type Partition } from '../file/partition.ts';
import { PartitionFile } from '../file/partition-file.ts';
import { isDamage, withFileName } from '../file/sqlite-errors.ts';
import { checkOpen, type StoreParts } from './store-parts.ts';

/** What is needed to use the file of a partition. */
export type FileUse = Pick<StoreParts, 'files' | 'fail' | 'failure'>;

/** Throws PARTITION_DAMAGED, STORE_FAILED, and whatever `use` itself throws. */
export function usePartition<T>(
  parts: FileUse,
  partition: Partition,
  use: (file: PartitionFile) => T,
): T {
  return orDamage(parts, partition, () => use(parts.files.use(partition)));
}

/** Like usePartition, for callers that need only the rows: see OpenFiles.useRows. */
export function useRows<T>(
  parts: FileUse,
  partition: Partition,
  use: (file: PartitionFile) => T,
): T {
  return orDamage(parts, partition, () => use(parts.files.useRows(partition)));
}

function orDamage<T>(parts: Omit<FileUse, 'files'>, partition: Partition, work: () => T): T {
  assert(!partition.isDropped, 'the registry holds no dropped partition');
  if (partition.damage !== null) throw partition.damage;
  try {
    return work();
  } catch (error) {
    if (isDamage(error)) throw noteDamage(partition, error);
    // The other records of the file may be intact; the scrub will tell.
    if (hasCode(error, 'RECORD_DAMAGED')) partition.isSuspect = true;
    const named = withFileName(error, partition.file?.db.name);
    if (diskError(error) !== null || hasCode(error, 'STORE_FAILED')) parts.fail(named);
    throw parts.failure ?? named;
  }
}

/** Like usePartition, after a wait: also throws PARTITION_ABSENT, and what `checkOpen` throws. */
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
  if (partition.isDropped) throw dropped(partition);
}

export function dropped(partition: Partition, cause?: unknown): CodedError {
  const message = `${partitionName(partition)} was meanwhile dropped or replaced by another copy`;
  return new CodedError('PARTITION_ABSENT', message, { cause });
}

/** Like readPartitionFile, for a request: requests are counted. */
export function readForRequest<T>(
  parts: FileUse,
  partition: Partition,
  read: (file: PartitionFile) => T,
): T {
  partition.requests += 1;
  return readPartitionFile(parts, partition, read);
}

/** Like useRows, for reads only: an empty partition needs no file for them. */
export function readPartitionFile<T>(
  parts: FileUse,
  partition: Partition,
  read: (file: PartitionFile) => T,
): T {
  return isEmpty(partition) ? read(emptyFile()) : useRows(parts, partition, read);
}

const emptyFile = once(
  () =>
    new PartitionFile(
      newTables({
        keyspace: 'none',
        partition: 0,
        incarnation: '-',
        life: '-',
        state: 'ready',
      }),
    ),
);
