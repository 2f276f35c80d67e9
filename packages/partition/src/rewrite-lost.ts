// Rewrites a file whose names are gone under new names, as long as it is still open: the open file
// is complete.
import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { snapshotPagesPerTurn } from '@ringwright/base/limits-store';
import {
  makeDirectory,
  replaceOwnFileNow,
  syncDirectory,
  syncFile,
} from '@ringwright/node/durable-files';
import { removeFiles } from '@ringwright/node/remove-files';
import { roomFor } from './copy/staged-copy.ts';
import { dataPaths, partitionName } from './file/data-paths.ts';
import { identityOf } from './file/file-identity.ts';
import { whyPartitionLost } from './file/lost-file.ts';
import { openDataFile } from './file/open-files.ts';
import { noSegment, type Partition, pinned } from './file/partition.ts';
import { currentFile, currentText } from './file/partition-directory.ts';
import type { PartitionFile } from './file/partition-file.ts';
import { currentTurn } from './store/finish-file.ts';
import { leaveMirror } from './store/mirrors.ts';
import { checkOpen, failed, type StoreParts } from './store/store-parts.ts';

/**
 * Resolves to true when the partition has a durable file again with everything it had; nothing was
 * written to it since it was found lost. False when its file is closed, or does not contain the
 * records it claims to have, or when another file took its name, which this process must not
 * remove. Throws DISK_FULL.
 */
export function rewriteLost(parts: StoreParts, partition: Partition): Promise<boolean> {
  return parts.mutex.run(partitionName(partition), async () => {
    checkOpen(parts);
    const { file, damage, fileIdentities } = partition;
    if (file === null || damage === null || partition.isDropped) return false;
    if (whyPartitionLost(parts.root, partition) === null) return false;
    const found = identityOf(file.db.name);
    if (found !== null && found.ino !== fileIdentities?.data?.ino) return false;
    const staged = parts.stagingPath('rewrite');
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => removeFiles(staged));
    cleanup.use(await roomFor(parts, file.info().bytes));
    cleanup.use(pinned(partition));
    if (!(await copyWhole(parts, file, staged))) return false;
    await parts.mutex.run(currentTurn(partition), () =>
      adopt(parts, partition, { present: file, staged }),
    );
    return true;
  });
}

/** Copies through the open connection, because the names lead nowhere. */
async function copyWhole(
  parts: StoreParts,
  present: PartitionFile,
  staged: string,
): Promise<boolean> {
  const name = join(staged, 'data.db');
  await mkdir(staged, { recursive: true, mode: 0o700 });
  try {
    present.flush();
    await present.db.backup(name, { progress: () => snapshotPagesPerTurn });
  } catch {
    // The open file was truncated, too.
    return false;
  }
  checkOpen(parts);
  const { findings, meta } = await parts.audits.audit(name);
  const { seq, rows, digest } = present.info();
  const isSame = meta?.seq === seq && meta.rows === rows && meta.digest === digest;
  if (findings.length > 0 || !isSame) return false;
  await syncFile(name);
  await syncDirectory(staged);
  return true;
}

/**
 * A crash before CURRENT is written leaves the partition with its lost file; a later crash leaves
 * it with the new, complete file.
 */
async function adopt(
  parts: StoreParts,
  partition: Partition,
  { present, staged }: { readonly present: PartitionFile; readonly staged: string },
): Promise<void> {
  const incarnation = parts.newIncarnation();
  const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
  await makeDirectory(dirname(home));
  await makeDirectory(home);
  const copy = await placeAndOpen(parts, partition, { present, staged, home, incarnation });
  const { state, barrierMs } = present.info();
  try {
    copy.takeOver({ incarnation, life: partition.life, state, barrierMs });
    if (!copy.checkpoint('TRUNCATE')) throw new Error('the copy could not be checkpointed');
    replaceOwnFileNow(currentFile(home), currentText(incarnation));
    await parts.empties.remove(partition);
  } catch (error) {
    // It is unknown which name is on the disk. Only reopening can tell.
    throw failed(parts, error);
  }
  leaveMirror(parts, partition);
  const old = join(home, partition.incarnation);
  partition.incarnation = incarnation;
  partition.dirtySegment = noSegment;
  partition.isNew = false;
  partition.damage = null;
  parts.files.replace(partition, copy);
  parts.registry.touch(partition);
  present.wal.discard();
  await removeFiles(old);
}

/**
 * Moves the staged file into the partition's folder and opens it. After a failure nothing is left
 * there.
 */
async function placeAndOpen(
  parts: StoreParts,
  partition: Partition,
  {
    present,
    staged,
    home,
    incarnation,
  }: {
    readonly present: PartitionFile;
    readonly staged: string;
    readonly home: string;
    readonly incarnation: string;
  },
): Promise<PartitionFile> {
  const directory = join(home, incarnation);
  await rename(staged, directory);
  try {
    // failpoint: rewrite.placed
    await syncDirectory(home);
    checkOpen(parts);
    if (partition.isDropped || partition.file !== present) {
      throw new CodedError('PARTITION_ABSENT', home);
    }
    return openDataFile(join(directory, 'data.db'));
  } catch (error) {
    await removeFiles(directory);
    throw error;
  }
}
