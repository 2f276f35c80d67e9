// Makes a verified copy the live file of a partition, with all that its present file has received.
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { mergeRowsMin, mergeSyncsMax } from '@ringwright/base/limits-store';
import { makeDirectory, replaceOwnFile, syncDirectory } from '@ringwright/node/durable-files';
import { removeFiles } from '@ringwright/node/remove-files';
import { dataPaths } from '../file/data-paths.ts';
import type { HashedRecord } from '../file/memtable.ts';
import { openDataFile } from '../file/open-files.ts';
import { clean, isEmpty, type Partition, pinned } from '../file/partition.ts';
import { currentFile, currentText } from '../file/partition-directory.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo, PartitionMarks } from '../file/partition-info.ts';
import { recordsSince } from '../file/read-records.ts';
import type { StoredPromise } from '../file/record.ts';
import { currentTurn } from '../parts/finish-file.ts';
import { logChange } from '../parts/log-change.ts';
import { queueWrites } from '../parts/queue-writes.ts';
import { failed, type StoreParts } from '../parts/store-parts.ts';
import { checkThere, useRows } from '../parts/use-partition.ts';

/**
 * The directory holds data.db and nobody has it open; it has the rows of the present file up to
 * `mergedSeq`. The steps, none of which syncs on this thread:
 * 1. The copy gets this device's identity, and all that the present file has; that is synced.
 * 2. What comes from then on stays in the log, for both files: Partition.keptSince.
 * 3. CURRENT is switched on the disk.
 * 4. In one turn the copy gets what came meanwhile, and takes the place of the present file.
 * A crash before the third leaves the present file in use and the copy beside it, to be removed at
 * the next start; afterwards it is the other way round, and the log has what the copy lacks.
 */
export async function adoptCopy(
  parts: StoreParts,
  partition: Partition,
  { directory: staged, mergedSeq = 0 }: { readonly directory: string; readonly mergedSeq?: number },
): Promise<PartitionInfo> {
  checkThere(parts, partition);
  const incarnation = parts.newIncarnation();
  const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
  const directory = join(home, incarnation);
  await moveBeside(partition, { staged, directory });
  const old = partition.incarnation;
  let copy: PartitionFile | null = null;
  using _ = pinned(partition);
  try {
    copy = openDataFile(join(directory, 'data.db'));
    const { state, barrierMs } = marksOf(parts, partition);
    copy.takeOver({ incarnation, life: partition.life, state, barrierMs });
    // failpoint: copy-in.taken-over
    // What is here already came before anybody counts on a promise of the copy.
    const promised = copy.promises.takeAll();
    const merged = await mergeDurably(parts, partition, { copy, from: mergedSeq });
    const next = { copy, merged, incarnation };
    const present = await parts.mutex.run(currentTurn(partition), () =>
      switchTo(parts, partition, next),
    );
    await clearAway(parts, partition, { present, promised, incarnation: old });
    return copy.info();
  } catch (error) {
    if (partition.file !== copy || copy === null) {
      copy?.wal.close();
      // After a failure it may be the current one.
      if (parts.failure === null) await removeFiles(directory);
    }
    throw error;
  } finally {
    partition.keptSince = clean;
  }
}

/** The names of the folders above are durable too: an empty partition has none yet. */
async function moveBeside(
  partition: Partition,
  { staged, directory }: { readonly staged: string; readonly directory: string },
): Promise<void> {
  const home = dirname(directory);
  if (!partition.hasFile || partition.isNew) {
    await makeDirectory(dirname(home));
    await makeDirectory(home);
  }
  await rename(staged, directory);
  await syncDirectory(home);
}

/**
 * In small pieces, each stored in a turn of its own, until no more than one is left, which came
 * during the last sync. It ends because pieces grow while more comes than is merged, up to twice
 * the batch that can arrive per turn, and because a sync of little is short. What was merged is
 * synced, and what comes later is kept in the log. Resolves to the sequence merged.
 */
async function mergeDurably(
  parts: StoreParts,
  partition: Partition,
  { copy, from }: { readonly copy: PartitionFile; readonly from: number },
): Promise<number> {
  const left = (): number => (presentFile(parts, partition)?.seq ?? 0) - merged;
  const { mergeRowsMax, walBytesMax } = parts.limits;
  let [merged, rowsMax, syncs] = [from, Math.min(mergeRowsMin, mergeRowsMax), 0];
  for (;;) {
    checkThere(parts, partition);
    // What is applied from now on comes from this segment or a later one.
    partition.keptSince = parts.log.oldestNeeded;
    const leftBefore = left();
    const piece = mergePiece(parts, partition, { copy, from: merged, rowsMax });
    merged = piece.lastSeq;
    if (piece.more) {
      await storePiece(copy);
      if (copy.wal.exceeds(walBytesMax)) await syncCopy(copy);
      if (left() >= leftBefore) rowsMax = Math.min(2 * rowsMax, mergeRowsMax);
      continue;
    }
    // Those of the present file alone: the log may have forgotten them.
    takeMarks(parts, partition, copy);
    await storePiece(copy);
    await syncCopy(copy);
    syncs += 1;
    if (left() <= mergeRowsMin || syncs === mergeSyncsMax) return merged;
  }
}

/** In a turn of its own: to replace rows takes three times as long as to merge them. */
async function storePiece(copy: PartitionFile): Promise<void> {
  await setImmediate();
  copy.flush();
  await setImmediate();
}

/** The folder too: the WAL that came with the copy has gone into the file, and must not come back. */
async function syncCopy(copy: PartitionFile): Promise<void> {
  if (await copy.checkpointAside()) return; // its WAL is new, so it syncs the folder
  // Without descriptors for syncs in the pool it is synced here.
  if (!copy.checkpoint('PASSIVE')) throw new Error('the copy could not be checkpointed');
  await syncDirectory(dirname(copy.db.name));
}

/** What goes wrong with the present file is its own, not the copy's. */
function mergePiece(
  parts: StoreParts,
  partition: Partition,
  { copy, from, rowsMax }: { copy: PartitionFile; from: number; rowsMax: number },
): { lastSeq: number; more: boolean } {
  if (isEmpty(partition)) return { lastSeq: from, more: false };
  const { mergeBytesMax: bytesMax } = parts.limits;
  const { rows, lastSeq, more } = useRows(parts, partition, (present) =>
    recordsSince(present, from, { rowsMax, bytesMax }),
  );
  if (rows.length > 0) copy.apply(rows.map((row) => ({ ...row, isPromise: false })));
  return { lastSeq, more };
}

/** State, barrier and promises as the present file has them. */
function takeMarks(parts: StoreParts, partition: Partition, copy: PartitionFile): void {
  const { state, barrierMs } = marksOf(parts, partition);
  copy.change({ state, barrierMs, floorMs: 0 });
  const promises = presentFile(parts, partition)?.promises.all() ?? [];
  copy.apply(promises.map(promiseRow));
}

/** It may be in memory. Null: the partition is empty, and has none. */
function presentFile(parts: StoreParts, partition: Partition): PartitionFile | null {
  return isEmpty(partition) ? null : useRows(parts, partition, (file) => file);
}

function marksOf(parts: StoreParts, partition: Partition): PartitionMarks {
  const { infoWhenClosed } = partition;
  return (
    presentFile(parts, partition)?.marks() ?? must(infoWhenClosed, 'known of an empty partition')
  );
}

async function switchTo(
  parts: StoreParts,
  partition: Partition,
  next: { copy: PartitionFile; merged: number; incarnation: string },
): Promise<PartitionFile | null> {
  checkThere(parts, partition);
  const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
  // failpoint: copy-in.before-switch
  await switchOnDisk(parts, home, next.incarnation);
  // failpoint: copy-in.switched
  const wasEmpty = isEmpty(partition);
  const present = switchHere(parts, partition, next);
  if (wasEmpty) await logState(parts, partition);
  await parts.empties.remove(partition).catch(parts.fail);
  return present;
}

/** It may be durable in the line of an empty partition alone, which goes now. */
export function logState(parts: StoreParts, partition: Partition): Promise<void> {
  const { state } = must(partition.file, 'a copy took its place').marks();
  return logChange(parts, partition, { state });
}

/** Whether the old or the new name is on disk is unknown when that fails. */
async function switchOnDisk(parts: StoreParts, home: string, incarnation: string): Promise<void> {
  try {
    await replaceOwnFile(currentFile(home), Buffer.from(currentText(incarnation)));
  } catch (error) {
    throw failed(parts, error);
  }
}

/** One turn of the event loop: no write can come between the last merged row and the switch. */
export function switchHere(
  parts: StoreParts,
  partition: Partition,
  next: { copy: PartitionFile; merged: number; incarnation: string },
): PartitionFile | null {
  const { copy, incarnation } = next;
  try {
    const rowsMax = parts.limits.mergeRowsMax;
    let from = next.merged;
    for (let more = true; more; )
      ({ lastSeq: from, more } = mergePiece(parts, partition, { copy, from, rowsMax }));
    takeMarks(parts, partition, copy);
  } catch (error) {
    // Damage of the present file is of this partition alone.
    throw partition.damage ?? failed(parts, error);
  }
  const present = presentFile(parts, partition);
  partition.incarnation = incarnation;
  partition.hasFile = true;
  partition.isNew = false;
  partition.dirtySince = partition.keptSince;
  parts.files.replace(partition, copy);
  parts.registry.touch(partition);
  // A lost segment stands for nothing any more.
  if (partition.dirtySince < parts.checkpointer.leftSegments) parts.checkpointer.request(partition);
  return present;
}

/**
 * Promises of the source, by way of the log: the file has them with the rows that came before. A
 * crash that loses them ends the load too, and the next one gets them again.
 */
async function promiseAll(
  parts: StoreParts,
  { keyspace, partition }: Partition,
  promises: readonly StoredPromise[],
): Promise<void> {
  const about = { keyspace, partition, value: null, isPromise: true };
  if (promises.length === 0) return;
  await queueWrites(
    parts,
    promises.map(({ key, ms, tie }) => ({ ...about, key, ms, tie })),
  );
}

function promiseRow(promise: StoredPromise): HashedRecord {
  const nothing = { value: null, expiresMs: 0, origin: null, hash: Buffer.alloc(0) };
  return { ...promise, ...nothing, isPromise: true };
}

/** What is left to do after the switch. */
export interface Replaced {
  /** The file until then; null: there was none. */
  readonly present: PartitionFile | null;
  /** Promises that the copy came with. */
  readonly promised: readonly StoredPromise[];
}

/** `incarnation`: that of the file until the switch. */
export async function clearAway(
  parts: StoreParts,
  partition: Partition,
  before: Replaced & { readonly incarnation: string },
): Promise<void> {
  const { present, incarnation, promised } = before;
  if (present !== null) {
    await setImmediate();
    present.wal.discard();
    const home = dataPaths.partition(parts.root, partition.keyspace, partition.partition);
    if (!present.isInMemory) await removeOld(parts, home, incarnation);
  }
  await promiseAll(parts, partition, promised);
}

async function removeOld(parts: StoreParts, home: string, incarnation: string): Promise<void> {
  const aside = parts.stagingPath('old');
  try {
    // Not synced: what a crash brings back beside CURRENT goes at the next start.
    await rename(join(home, incarnation), aside);
    // failpoint: copy-in.before-removal
    await removeFiles(aside);
  } catch (error) {
    parts.fail(error);
  }
}
