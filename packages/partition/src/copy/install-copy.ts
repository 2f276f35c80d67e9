// Makes a copy the file of a partition that has none. Everything but the name of its folder is
// durable in the staging folder by then.
import { must } from '@ringwright/base/assert';
import { mergeRowsMin } from '@ringwright/base/limits-store';
import type { OwnedFile } from '../audit/own-file.ts';
import { dataPaths } from '../file/data-paths.ts';
import { readFileIdentities } from '../file/file-identity.ts';
import { openDataFile } from '../file/open-files.ts';
import { isEmpty, noSegment, type Partition, pinned } from '../file/partition.ts';
import { placePartitionDirectory, syncPlaced } from '../file/partition-directory.ts';
import type { PartitionInfo, PartitionState } from '../file/partition-info.ts';
import { currentTurn } from '../store/finish-file.ts';
import { failed, type StoreParts } from '../store/store-parts.ts';
import { checkThere } from '../store/use-partition.ts';
import { logState, switchHere } from './adopt-copy.ts';
import { clearAway, type Replaced } from './clear-away.ts';

interface FinishedCopy {
  /** Holds CURRENT, and the folder that it names with the file, which nobody has open. */
  readonly directory: string;
  readonly owned: OwnedFile;
}

/**
 * Resolves to null, changing nothing, when the partition has a file by now, or another state than
 * the copy: then adoptCopy takes over. A crash before the rename leaves the partition empty. A
 * crash after it leaves the copy and the line that says it is empty, and the copy wins. Writes that
 * arrive meanwhile are in the log, and in a file or in memory, which is merged as in adoptCopy.
 */
export async function installCopy(
  parts: StoreParts,
  partition: Partition,
  copy: FinishedCopy,
): Promise<PartitionInfo | null> {
  checkThere(parts, partition);
  const oldIncarnation = partition.incarnation;
  using _ = pinned(partition);
  // Entries applied from now on come from this segment or a later one.
  partition.neededSegment = parts.log.currentSegment;
  try {
    const switched = await parts.mutex.run(currentTurn(partition), () =>
      place(parts, partition, copy),
    );
    if (switched === null) return null;
    await clearAway(parts, partition, { ...switched, incarnation: oldIncarnation });
    return partition.file?.info() ?? copy.owned.info;
  } finally {
    partition.neededSegment = noSegment;
  }
}

async function place(
  parts: StoreParts,
  partition: Partition,
  { directory, owned }: FinishedCopy,
): Promise<Replaced | null> {
  if (partition.hasFile || stateInMemory(partition) !== owned.info.state) return null;
  // More than fits into one turn.
  if ((partition.file?.seq ?? 0) > mergeRowsMin) return null;
  // failpoint: copy-in.before-place
  if (!(await placePartitionDirectory(parts, directory, partition))) return null;
  await syncPlaced(parts.root, partition).catch((error: unknown) => {
    throw failed(parts, error);
  });
  // failpoint: copy-in.placed
  const isSame = isEmpty(partition) && stateInMemory(partition) === owned.info.state;
  const switched = isSame ? useClosed(parts, partition, owned) : mergeHere(parts, partition, owned);
  if (!isSame) await logState(parts, partition);
  await parts.empties.remove(partition).catch(parts.fail);
  return switched;
}

/** Leaves the file closed until somebody needs it. */
function useClosed(
  parts: StoreParts,
  partition: Partition,
  { info, highestMs }: OwnedFile,
): Replaced {
  partition.incarnation = info.incarnation;
  partition.hasFile = true;
  partition.infoWhenClosed = info;
  partition.fileIdentities = readFileIdentities(dataPaths.file(parts.root, info));
  partition.highestMs = Math.max(partition.highestMs, highestMs);
  parts.registry.touch(partition);
  return { present: null, promised: [] };
}

/** The state of a partition that has no file on disk. */
export function stateInMemory({ file, infoWhenClosed }: Partition): PartitionState {
  return (file?.marks() ?? must(infoWhenClosed, 'known of an empty partition')).state;
}

/** Merges rows written so far from memory, or from a file created since the rename began. */
function mergeHere(parts: StoreParts, partition: Partition, { info }: OwnedFile): Replaced {
  try {
    const copy = openDataFile(dataPaths.file(parts.root, info));
    const promised = copy.promises.takeAll();
    const next = { copy, merged: 0, incarnation: info.incarnation };
    const dirtySegment = partition.dirtySegment;
    const present = switchHere(parts, partition, next);
    // None of these rows are synced: the log has them.
    partition.dirtySegment = Math.min(dirtySegment, partition.dirtySegment);
    return { present, promised };
  } catch (error) {
    // CURRENT names the copy: only reopening can tell.
    throw failed(parts, error);
  }
}
