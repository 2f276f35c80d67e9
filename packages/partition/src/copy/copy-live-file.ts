// Lets another process read a partition file in place, while checkpoints of the file wait or are
// recorded.
import { statSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { copyRoundsMax } from '@ringwright/base/limits-copies';
import { snapshotPagesPerTurn } from '@ringwright/base/limits-store';
import { removeFiles } from '@ringwright/node/remove-files';
import { ChangedPages } from '../file/changed-pages.ts';
import { noteDamage, type Partition, pinned } from '../file/partition.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import { checkOpen, type StoreParts } from '../store/store-parts.ts';
import { dropped, withFile } from '../store/use-partition.ts';

/**
 * Keeps the file open, and checkpoints waiting, until `endHold`. A checkpoint that cannot wait any
 * longer runs all the same.
 */
export function beginHold(partition: Partition): void {
  partition.pinCount += 1;
  partition.holdCount += 1;
}

/**
 * Ends a hold, and starts a checkpoint only if one became due: a file that moves elsewhere needs
 * none.
 */
export function endHold(parts: Pick<StoreParts, 'checkpointer'>, partition: Partition): void {
  partition.pinCount -= 1;
  partition.holdCount -= 1;
  if (!partition.isCheckpointDue) return;
  partition.isCheckpointDue = false;
  void parts.checkpointer.request(partition);
}

/**
 * Resolves to the result of `read`, or to null if the file itself changed meanwhile. Only a
 * checkpoint writes it.
 */
export async function whileHeld<Result>(
  parts: StoreParts,
  partition: Partition,
  { file, read }: { readonly file: PartitionFile; readonly read: () => Promise<Result> },
): Promise<Result | null> {
  const { checkpoints } = file.wal;
  beginHold(partition);
  try {
    const result = await read();
    checkOpen(parts);
    return partition.file === file && file.wal.checkpoints === checkpoints ? result : null;
  } finally {
    endHold(parts, partition);
  }
}

/**
 * Has a helper process copy the file and its WAL to `to`: a state of the partition that is no older
 * than the call. Resolves to a sequence up to which the copy has all rows. A long file is copied
 * while checkpoints go on, then the pages they have written meanwhile, until little is left; for
 * the last round checkpoints wait. The WAL may grow while it is read, or be restarted if the file
 * has all of it; SQLite uses its whole frames. If writes outpace the helper process, this process
 * copies instead, 1 MiB a turn. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
 */
export async function copyInProcess(
  parts: StoreParts,
  partition: Partition,
  to: string,
): Promise<number> {
  const file = withFile(parts, partition, (used) => used);
  const { seq } = file;
  using _ = pinned(partition);
  try {
    const copied = await copyInRounds(parts, partition, { file, to });
    if (copied !== null) return copied;
    for (const name of [to, `${to}-wal`]) await removeFiles(name);
    await backUpFile(parts, partition, to);
    return seq;
  } catch (error) {
    if (partition.isDropped || partition.file !== file) throw dropped(partition, error);
    throw error;
  }
}

interface CopyAside {
  readonly file: PartitionFile;
  readonly to: string;
}

/** Resolves to null when the rounds did not converge. */
async function copyInRounds(
  parts: StoreParts,
  partition: Partition,
  { file, to }: CopyAside,
): Promise<number | null> {
  const changed = new ChangedPages();
  file.wal.watchers.add(changed);
  try {
    let { size: bytes } = statSync(file.db.name);
    for (let round = 0; round < copyRoundsMax && !changed.isBroken; round += 1) {
      const copy = () => {
        const pages = round === 0 ? null : changed.take();
        return parts.copies.copyPages({ from: file.db.name, to, pages });
      };
      if (bytes > parts.limits.copyHeldBytesMax) {
        await copy();
        // failpoint: fill.copied-round
      } else {
        const seq = await copyLast(parts, partition, { file, to, copy });
        // No page was recorded in this round.
        if (seq !== null) return seq;
      }
      ({ bytes } = changed);
    }
    return null;
  } finally {
    file.wal.watchers.delete(changed);
  }
}

interface LastRound extends CopyAside {
  readonly copy: () => Promise<void>;
}

/** Resolves to the last sequence in the copy, or to null when a checkpoint ran all the same. */
async function copyLast(
  parts: StoreParts,
  partition: Partition,
  { file, to, copy }: LastRound,
): Promise<number | null> {
  const { seq, walBytes } = withFile(parts, partition, (used) => {
    if (used !== file) throw dropped(partition);
    file.flush();
    return { seq: file.seq, walBytes: file.wal.stopCheckpoint() };
  });
  const read = async () => {
    await copy();
    const wal = { from: `${file.db.name}-wal`, to: `${to}-wal`, pages: null };
    if (walBytes > 0) await parts.copies.copyPages(wal);
    return seq;
  };
  const copied = await whileHeld(parts, partition, { file, read });
  if (copied === null) await removeFiles(`${to}-wal`);
  return copied;
}

/**
 * Copies through the backup API, which mirrors writes of its own connection: the copy shows the
 * moment it ends. Throws PARTITION_ABSENT, PARTITION_DAMAGED.
 */
export async function backUpFile(
  parts: StoreParts,
  partition: Partition,
  to: string,
): Promise<void> {
  const { db } = withFile(parts, partition, (used) => used);
  using _ = pinned(partition);
  try {
    await db.backup(to, { progress: () => snapshotPagesPerTurn });
  } catch (error) {
    checkOpen(parts);
    if (partition.file?.db !== db) throw dropped(partition, error);
    throw noteDamage(partition, error);
  }
}

export function changedDuringCopy({ keyspace, partition }: Partition): CodedError {
  const message = `${keyspace}/${partition} changed in its file while it was copied`;
  return new CodedError('COPY_BUSY', message, { hint: 'start the copy again' });
}
