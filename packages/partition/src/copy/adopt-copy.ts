// Makes a verified copy the live file of a partition, with all that its present file has received.
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { replaceOwnFileNow, syncDirectory } from '@ringwright/node/durable-files';
import { dataPaths } from '../file/data-paths.ts';
import type { HashedRecord } from '../file/memtable.ts';
import { openDataFile } from '../file/open-files.ts';
import { clean, type Partition } from '../file/partition.ts';
import { currentFile, currentText } from '../file/partition-directory.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import { recordsSince } from '../file/read-records.ts';
import type { StoredPromise } from '../file/record.ts';
import { hashRecord } from '../file/record-bytes.ts';
import { checkOpen, type StoreParts } from '../parts/store-parts.ts';
import { usePartition } from '../parts/use-partition.ts';

/**
 * `staged` holds data.db and nobody has it open. A crash before CURRENT is switched leaves the
 * present file in use and the copy beside it, to be removed at the next start; afterwards it is the
 * other way round.
 */
export async function adoptCopy(
  parts: StoreParts,
  partition: Partition,
  staged: string,
): Promise<PartitionInfo> {
  checkAdoptable(parts, partition);
  const incarnation = parts.newIncarnation();
  const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
  const directory = join(home, incarnation);
  await rename(staged, directory);
  await syncDirectory(home);
  let copy: PartitionFile | null = null;
  try {
    copy = openDataFile(join(directory, 'data.db'));
    const { state, barrierMs } = usePartition(parts, partition, (file) => file.info());
    copy.takeOver({ incarnation, life: partition.life, state, barrierMs });
    // failpoint: copy-in.taken-over
    // What is here already came before anybody counts on a promise of the copy.
    const promised = copy.promises.takeAll();
    const merged = await mergeAllButLast(parts, partition, copy);
    checkAdoptable(parts, partition);
    const old = partition.incarnation;
    const present = switchNow(parts, partition, { copy, promised, merged, incarnation, home });
    const info = copy.info();
    await setImmediate();
    present.wal.discard();
    await removeOld(parts, home, old);
    return info;
  } catch (error) {
    if (partition.file !== copy || copy === null) {
      copy?.wal.close();
      // After a failure it may be the current one.
      if (parts.failure === null) await rm(directory, { recursive: true, force: true });
    }
    throw error;
  }
}

/**
 * Piece by piece, until only what came during the last turn can be left: at most a batch or two. It
 * ends because a piece is twice as large as the batch that can arrive per turn. Resolves to the
 * sequence merged.
 */
async function mergeAllButLast(
  parts: StoreParts,
  partition: Partition,
  copy: PartitionFile,
): Promise<number> {
  partition.pins += 1;
  try {
    let merged = 0;
    for (let more = true; more; ) {
      checkAdoptable(parts, partition);
      ({ lastSeq: merged, more } = mergePiece(parts, partition, { copy, from: merged }));
      // What is merged is synced before the last turn, so that this has little to do.
      const isLast = !more && merged > 0;
      if (isLast || copy.wal.exceeds(parts.limits.walBytesMax)) copy.checkpoint('PASSIVE');
      await setImmediate();
    }
    return merged;
  } finally {
    partition.pins -= 1;
  }
}

/** What goes wrong with the present file is its own, not the copy's. */
function mergePiece(
  parts: StoreParts,
  partition: Partition,
  { copy, from }: { copy: PartitionFile; from: number },
): { lastSeq: number; more: boolean } {
  const { mergeRowsMax: rowsMax, mergeBytesMax: bytesMax } = parts.limits;
  const { rows, lastSeq, more } = usePartition(parts, partition, (present) =>
    recordsSince(present, from, { rowsMax, bytesMax }),
  );
  if (rows.length > 0) {
    const hashed = rows.map((row) => ({ ...row, hash: hashRecord(row), isPromise: false }));
    copy.apply(hashed);
  }
  return { lastSeq, more };
}

/** One turn of the event loop: no write can come between the last merged row and the switch. */
function switchNow(
  parts: StoreParts,
  partition: Partition,
  next: {
    copy: PartitionFile;
    promised: readonly StoredPromise[];
    merged: number;
    incarnation: string;
    home: string;
  },
): PartitionFile {
  const { copy, promised, incarnation, home } = next;
  let from = next.merged;
  for (let more = true; more; )
    ({ lastSeq: from, more } = mergePiece(parts, partition, { copy, from }));
  const present = usePartition(parts, partition, (file) => file);
  copy.apply([...promised, ...present.promises.all()].map(promiseRow));
  // The log may then forget what was written before: the copy must be durable as a whole.
  if (!copy.checkpoint('TRUNCATE')) throw new Error('the copy could not be checkpointed');
  try {
    // failpoint: copy-in.before-switch
    replaceOwnFileNow(currentFile(home), currentText(incarnation));
  } catch (error) {
    // Whether the old or the new name is on disk is unknown: only reopening from disk can tell.
    parts.fail(error);
    throw parts.failure ?? error;
  }
  // failpoint: copy-in.switched
  partition.incarnation = incarnation;
  partition.dirtySince = clean;
  parts.files.replace(partition, copy);
  return present;
}

function promiseRow(promise: StoredPromise): HashedRecord {
  const nothing = { value: null, expiresMs: 0, origin: null, hash: Buffer.alloc(0) };
  return { ...promise, ...nothing, isPromise: true };
}

async function removeOld(parts: StoreParts, home: string, incarnation: string): Promise<void> {
  const aside = parts.stagingPath('old');
  try {
    // Not synced: what a crash brings back beside CURRENT goes at the next start.
    await rename(join(home, incarnation), aside);
    // failpoint: copy-in.before-removal
    await rm(aside, { recursive: true, force: true });
  } catch (error) {
    parts.fail(error);
  }
}

function checkAdoptable(parts: StoreParts, partition: Partition): void {
  checkOpen(parts);
  if (!partition.gone) return;
  throw new CodedError(
    'PARTITION_ABSENT',
    `${partition.keyspace}/${partition.partition} was dropped while a copy of it came in`,
  );
}
