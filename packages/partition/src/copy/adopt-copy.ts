// Makes a verified copy the live file of a partition, with all that its present file has received.
import { rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { mergeRowsMin, mergeSyncsMax, replacedTurnBytesMax } from '@ringwright/base/limits-store';
import { makeDirectory, replaceOwnFile, syncDirectory } from '@ringwright/node/durable-files';
import { removeFiles } from '@ringwright/node/remove-files';
import { dataPaths } from '../file/data-paths.ts';
import type { HashedRecord } from '../file/memtable.ts';
import { openDataFile } from '../file/open-files.ts';
import { isEmpty, noSegment, type Partition, pinned } from '../file/partition.ts';
import { currentFile, currentText } from '../file/partition-directory.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo, PartitionMarks } from '../file/partition-info.ts';
import { recordsSince } from '../file/read-records.ts';
import type { PreparedBallot } from '../file/record.ts';
import { logChange } from '../store/change-marks.ts';
import { currentTurn } from '../store/finish-file.ts';
import { failed, type StoreParts } from '../store/store-parts.ts';
import { checkThere, useRows } from '../store/use-partition.ts';
import { clearAway } from './clear-away.ts';

/**
 * Adopts a staged copy. `directory` holds data.db, which nobody has open and which has the rows of
 * the present file up to `mergedSeq`. The steps, none of which syncs on this thread:
 * 1. The copy gets this device's identity and all rows of the present file; then it is synced.
 * 2. Later writes stay in the log for both files: Partition.neededSegment.
 * 3. CURRENT is switched on disk.
 * 4. In one turn the copy gets the writes since step 1 and replaces the present file.
 * A crash before step 3 leaves the present file in use, and the next start removes the copy. A
 * later crash leaves the copy in use; the log has the writes that it lacks.
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
  const old = partition.incarnation;
  let copy: PartitionFile | null = null;
  using _ = pinned(partition);
  try {
    await moveBeside(partition, { staged, directory });
    copy = openDataFile(join(directory, 'data.db'));
    const { state, barrierMs } = marksOf(parts, partition);
    copy.takeOver({ incarnation, life: partition.life, state, barrierMs });
    // failpoint: copy-in.taken-over
    // Rows merged below were written before anybody relies on a promise of the copy.
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
      // After a store failure this may be the current folder.
      if (parts.failure === null) await removeFiles(directory);
    }
    throw error;
  } finally {
    partition.neededSegment = noSegment;
  }
}

/** The names of the parent folders become durable too: an empty partition has none yet. */
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
 * Merges small pieces, each stored in a turn of its own, until few rows are left that arrived
 * during the last sync. The loop ends because pieces grow while more arrives than is
 * merged, up to twice the batch that can arrive per turn, and because syncing little is short.
 * Merged rows are synced, and the log keeps later ones. Resolves to the sequence merged.
 */
async function mergeDurably(
  parts: StoreParts,
  partition: Partition,
  { copy, from }: { readonly copy: PartitionFile; readonly from: number },
): Promise<number> {
  const rowsLeft = (): number => (presentFile(parts, partition)?.seq ?? 0) - merged;
  const { mergeRowsMax, walBytesMax } = parts.limits;
  let [merged, rowsMax, syncs] = [from, Math.min(mergeRowsMin, mergeRowsMax), 0];
  for (;;) {
    checkThere(parts, partition);
    // Entries applied from now on come from this segment or a later one.
    partition.neededSegment = parts.log.currentSegment;
    const rowsLeftBefore = rowsLeft();
    const piece = mergePiece(parts, partition, { copy, from: merged, rowsMax });
    merged = piece.lastSeq;
    if (piece.more) {
      await storePiece(copy);
      if (copy.wal.exceeds(walBytesMax)) await syncCopy(copy);
      if (rowsLeft() >= rowsLeftBefore) rowsMax = Math.min(2 * rowsMax, mergeRowsMax);
      continue;
    }
    // State, barrier and promises exist in the present file alone: the log may have dropped them.
    takeMarks(parts, partition, copy);
    await storePiece(copy);
    await syncCopy(copy);
    syncs += 1;
    if (rowsLeft() <= mergeRowsMin || syncs === mergeSyncsMax) {
      return mergeRest(parts, partition, { copy, from: merged });
    }
  }
}

/**
 * Merges what arrived during the last sync in turns of its own, since its values may be long. It
 * need not be synced: the log keeps it (neededSegment). Resolves to the sequence merged.
 */
async function mergeRest(
  parts: StoreParts,
  partition: Partition,
  { copy, from }: { readonly copy: PartitionFile; readonly from: number },
): Promise<number> {
  const last = presentFile(parts, partition)?.seq ?? 0;
  let merged = from;
  while (merged < last) {
    const piece = { copy, from: merged, rowsMax: mergeRowsMin };
    merged = mergePiece(parts, partition, piece).lastSeq;
    await storePiece(copy);
    if (copy.wal.exceeds(parts.limits.walBytesMax)) await syncCopy(copy);
    checkThere(parts, partition);
  }
  return merged;
}

/** Flushes in a turn of its own: replacing rows takes three times as long as merging them. */
async function storePiece(copy: PartitionFile): Promise<void> {
  await setImmediate();
  copy.flush();
  await setImmediate();
}

/** Syncs the folder too: the WAL that came with the copy is merged now, and must not reappear. */
async function syncCopy(copy: PartitionFile): Promise<void> {
  // The first checkpoint of an open file syncs its folder too.
  if (await copy.checkpointInPool()) return;
  // Out of descriptors for syncs in the thread pool: syncs here.
  if (!copy.checkpoint('PASSIVE')) throw new Error('the copy could not be checkpointed');
  await syncDirectory(dirname(copy.db.name));
}

/** Merges one piece. An error of the present file does not count as damage of the copy. */
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
  const merging = rows.map((row) => ({ ...row, isPreparedBallot: false }));
  const merged = copy.apply(merging, { bytesLeft: replacedTurnBytesMax }).length;
  if (merged < rows.length) return { lastSeq: rows[merged - 1]?.seq ?? from, more: true };
  return { lastSeq, more };
}

/** Gives the copy the state, barrier and promises of the present file. */
function takeMarks(parts: StoreParts, partition: Partition, copy: PartitionFile): void {
  const { state, barrierMs } = marksOf(parts, partition);
  copy.change({ state, barrierMs, floorMs: 0 });
  const promises = presentFile(parts, partition)?.promises.all() ?? [];
  copy.apply(promises.map(promiseRow));
}

/** The present file, which may be in memory; null: the partition is empty and has none. */
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
  const hadLine = parts.empties.get(partition) !== undefined;
  const present = switchHere(parts, partition, next);
  if (hadLine) await logState(parts, partition);
  await parts.empties.remove(partition).catch(parts.fail);
  return present;
}

/** Logs the state: so far only the line of a partition may have it, which goes now. */
export function logState(parts: StoreParts, partition: Partition): Promise<void> {
  const { state } = must(partition.file, 'a copy took its place').marks();
  return logChange(parts, partition, { state });
}

/** After a failure it is unknown whether the old or the new name is on disk. */
async function switchOnDisk(parts: StoreParts, home: string, incarnation: string): Promise<void> {
  try {
    await replaceOwnFile(currentFile(home), Buffer.from(currentText(incarnation)));
  } catch (error) {
    throw failed(parts, error);
  }
}

/** Runs in one turn: no write can come between the last merged row and the switch. */
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
    // CURRENT names the copy, and only the log has what it lacks. A close leaves CURRENT as it is,
    // whatever took the place of the present file.
    partition.fileIdentities = null;
    throw failed(parts, error);
  }
  const present = presentFile(parts, partition);
  partition.incarnation = incarnation;
  partition.hasFile = true;
  partition.isNew = false;
  partition.dirtySegment = partition.neededSegment;
  parts.files.replace(partition, copy);
  parts.registry.touch(partition);
  // If its segments were lost, the log no longer covers these writes: checkpoint the copy now.
  if (partition.dirtySegment < parts.checkpointer.leftSegments)
    void parts.checkpointer.request(partition);
  return present;
}

function promiseRow(promise: PreparedBallot): HashedRecord {
  const nothing = { value: null, expiresMs: 0, origin: null, hash: Buffer.alloc(0) };
  return { ...promise, ...nothing, isPreparedBallot: true };
}
