// A partition file that another process reads where it lies: its checkpoints wait meanwhile.
import { rm } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { snapshotPagesPerTurn } from '@ringwright/base/limits-store';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { damageError, isDamage } from '../file/sqlite-errors.ts';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import { usePartition } from '../parts/use-partition.ts';

/**
 * What `read` resolves to; null unless the file itself stayed as it was meanwhile. Nothing but a
 * checkpoint writes it, and one that can wait no longer comes all the same.
 */
export async function whileHeld<Result>(
  parts: StoreParts,
  partition: Partition,
  { file, read }: { readonly file: PartitionFile; readonly read: () => Promise<Result> },
): Promise<Result | null> {
  const { checkpoints } = file.wal;
  partition.pins += 1;
  partition.held += 1;
  try {
    const result = await read();
    checkOpen(parts);
    return partition.file === file && file.wal.checkpoints === checkpoints ? result : null;
  } finally {
    partition.pins -= 1;
    partition.held -= 1;
    parts.checkpointer.request(partition);
  }
}

/**
 * Copies the file and its WAL to `to` and beside it, by another process: a state of the partition
 * that is no older than the call. Resolves to the last sequence at the call. The WAL may grow while
 * it is read, or begin anew if the file has all of it; SQLite takes of it what is whole. A file so
 * long that its checkpoints could not wait is copied by this process, a MiB a turn. Throws
 * PARTITION_ABSENT, PARTITION_DAMAGED.
 */
export async function copyAside(
  parts: StoreParts,
  partition: Partition,
  to: string,
): Promise<number> {
  checkOpen(parts);
  if (partition.gone) throw dropped(partition);
  const { file, seq, walBytes } = usePartition(parts, partition, (used) => {
    used.flush();
    return { file: used, seq: used.seq, walBytes: used.wal.holdStill() };
  });
  const { name } = file.db;
  const read = async () => {
    const copied = await parts.copies.copy(name, to);
    return walBytes === 0 ? copied : parts.copies.copy(`${name}-wal`, `${to}-wal`);
  };
  if ((await whileHeld(parts, partition, { file, read })) !== null) return seq;
  for (const name of [to, `${to}-wal`]) await rm(name, { force: true });
  await mirrorAside(parts, partition, to);
  return seq;
}

/**
 * By the backup API, which mirrors the writes of its own connection: the copy is of the moment it
 * ends. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
 */
export async function mirrorAside(
  parts: StoreParts,
  partition: Partition,
  to: string,
): Promise<void> {
  checkOpen(parts);
  if (partition.gone) throw dropped(partition);
  const { db } = usePartition(parts, partition, (used) => used);
  partition.pins += 1;
  try {
    await db.backup(to, { progress: () => snapshotPagesPerTurn });
  } catch (error) {
    checkOpen(parts);
    if (partition.file?.db !== db) throw dropped(partition, error);
    if (!isDamage(error)) throw error;
    partition.damage ??= damageError(error, partition);
    throw partition.damage;
  } finally {
    partition.pins -= 1;
  }
}

export function dropped({ keyspace, partition }: Partition, cause?: unknown): CodedError {
  const message = `${keyspace}/${partition} was dropped, or replaced while it was copied`;
  return new CodedError('PARTITION_ABSENT', message, { cause });
}

export function touched({ keyspace, partition }: Partition): CodedError {
  const message = `${keyspace}/${partition} was written to its file while it was copied`;
  return new CodedError('COPY_BUSY', message, { hint: 'ask again' });
}
