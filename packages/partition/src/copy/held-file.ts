// A partition file that another process reads where it lies: its checkpoints wait meanwhile.
import { CodedError } from '@ringwright/base/coded-error';
import type { Partition } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
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
 * it is read, or begin anew if the file has all of it; SQLite takes of it what is whole. Throws
 * PARTITION_ABSENT, PARTITION_DAMAGED, and COPY_BUSY when a checkpoint came between.
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
  if ((await whileHeld(parts, partition, { file, read })) === null) throw touched(partition);
  return seq;
}

export function dropped({ keyspace, partition }: Partition): CodedError {
  return new CodedError('PARTITION_ABSENT', `${keyspace}/${partition} was dropped`);
}

export function touched({ keyspace, partition }: Partition): CodedError {
  const message = `${keyspace}/${partition} was written to its file while it was copied`;
  return new CodedError('COPY_BUSY', message, { hint: 'ask again' });
}
