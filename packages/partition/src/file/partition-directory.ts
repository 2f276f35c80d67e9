// The folder of one partition. `CURRENT` names the incarnation whose `data.db` is in use.
import { mkdirSync, writeFileSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf } from '@ringwright/base/thrown';
import {
  makeDirectory,
  replaceOwnFile,
  replaceOwnFileNow,
  syncDirectory,
} from '@ringwright/node/durable-files';
import { readOwnFile } from '@ringwright/node/read-regular-file';
import { dataPaths, isIncarnation, isKeyspace, type PartitionRef } from './data-paths.ts';
import { type NewPartition, newPartitionBytes } from './new-partition-file.ts';
import { isCannotOpen } from './sqlite-errors.ts';

const CURRENT = 'CURRENT';
/** Prefix in a CURRENT that names a file which took the place of the one in use. */
const REPLACED = 'replaced ';
/** Prefix in the CURRENT of a folder that a power loss may remove or leave incomplete. */
const NEW = 'new ';

export function currentFile(directory: string): string {
  return join(directory, CURRENT);
}

export function currentText(incarnation: string): string {
  return `${incarnation}\n`;
}

/**
 * Creates the folder of a partition at its final path, in one turn and without a sync. Until it is
 * finished the log has everything, and a start creates a new folder.
 */
export function makePartitionDirectory(
  root: string,
  options: NewPartition,
  bytes = newPartitionBytes(options),
): void {
  const home = dataPaths.partition(root, options.keyspace, options.partition);
  const directory = join(home, options.incarnation);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'data.db'), bytes, { mode: 0o600 });
  try {
    const text = newCurrentText(options.incarnation);
    writeFileSync(currentFile(home), text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // An existing CURRENT names a copy that is about to take the place of this file.
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

/**
 * Makes the folder durable after its file is synced. From then on it counts, whatever else is on
 * the disk. All names are durable before CURRENT counts: a disk may keep a rename and lose an older
 * name of the same directory.
 */
export async function finishPartitionDirectory(home: string, incarnation: string): Promise<void> {
  const directories = [join(home, incarnation), home, dirname(home), dirname(dirname(home))];
  await Promise.all(directories.map(syncDirectory));
  await replaceOwnFile(currentFile(home), Buffer.from(currentText(incarnation)));
}

export function newCurrentText(incarnation: string): string {
  return `${NEW}${currentText(incarnation)}`;
}

export interface PartitionFolder extends PartitionRef {
  readonly directory: string;
}

export interface KeyspaceFolders {
  readonly root: string;
  /** Keyspaces whose folder is durable; no part of the store removes one. */
  readonly durableKeyspaces: Set<string>;
}

/**
 * Moves a staged folder, durable with its content, to the partition's path; `syncPlaced` makes the
 * new name durable. Resolves to false when the partition has a folder already. Then, and after a
 * failure, the staged folder stays where it was.
 */
export async function placePartitionDirectory(
  folders: KeyspaceFolders,
  staged: string,
  ref: PartitionRef,
): Promise<boolean> {
  const { root, durableKeyspaces } = folders;
  const { keyspace } = ref;
  const directory = dataPaths.partition(root, keyspace, ref.partition);
  const isKnown = durableKeyspaces.has(keyspace);
  if (!isKnown) await makeDirectory(dirname(directory));
  durableKeyspaces.add(keyspace);
  try {
    await rename(staged, directory);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    if (code !== 'ENOENT' || !isKnown) throw error;
    // Somebody else removed the keyspace's folder.
    durableKeyspaces.delete(keyspace);
    return placePartitionDirectory(folders, staged, ref);
  }
  return true;
}

/** After a failure it is unknown whether the disk has the name. */
export function syncPlaced(root: string, { keyspace, partition }: PartitionRef): Promise<void> {
  return syncDirectory(dirname(dataPaths.partition(root, keyspace, partition)));
}

/** Durably marks the file as replaced, so that later starts do not use it. */
export function noteReplaced(directory: string, incarnation: string): void {
  replaceOwnFileNow(currentFile(directory), `${REPLACED}${currentText(incarnation)}`);
}

/**
 * Returns the incarnation in use. Throws PARTITION_DAMAGED when CURRENT is missing, unreadable or
 * marks the file as replaced.
 */
export async function readCurrent(directory: string): Promise<string> {
  const text = await readCurrentText(directory);
  const incarnation = text.slice(0, -1);
  if (text.endsWith('\n') && isIncarnation(incarnation)) return incarnation;
  if (text.startsWith(REPLACED)) {
    const file = join(directory, incarnation.slice(REPLACED.length), 'data.db');
    throw new CodedError('PARTITION_DAMAGED', `${file} was replaced while a server used it`, {
      hint: `drop the partition and let it refill; to use that file anyway, without later writes, stop the server and remove "${REPLACED}" from ${currentFile(directory)}`,
      details: { file },
    });
  }
  if (text.startsWith(NEW)) {
    throw new CodedError('PARTITION_DAMAGED', `${directory} was never completed`, {
      hint: 'its entry as a new partition was lost or damaged: drop the partition and let it refill',
      details: { directory },
    });
  }
  throw new CodedError('PARTITION_DAMAGED', `${currentFile(directory)} names no incarnation`, {
    hint: 'CURRENT is damaged: drop the partition and let it refill',
    details: { directory },
  });
}

/** Returns '' for a file that is missing or cannot be read. */
async function readCurrentText(directory: string): Promise<string> {
  const bytes = await readOwnFile(currentFile(directory)).catch((error: unknown) => {
    // A lack of descriptors says nothing about the file.
    if (isCannotOpen(error)) throw error;
    return '';
  });
  return String(bytes);
}

/** Whether CURRENT names an incarnation. If not, a line of EmptyPartitions tells the state. */
export async function isFinished(directory: string): Promise<boolean> {
  const text = await readCurrentText(directory);
  return text.endsWith('\n') && isIncarnation(text.slice(0, -1));
}

/**
 * Makes the names of all partition folders durable. What a killed process renamed is visible, but
 * only in memory: a power loss would undo it after the log has lost what the other place lacks.
 */
export async function syncPartitionNames(root: string): Promise<void> {
  const partitions = dataPaths.partitions(root);
  const keyspaces = (await readdir(partitions)).filter(isKeyspace);
  const homes = keyspaces.map((keyspace) => join(partitions, keyspace));
  for (const directory of [dataPaths.trash(root), ...homes]) await syncDirectory(directory);
}

/**
 * Removes what a crash left beside the current incarnation: unfinished copies, and old files. First
 * CURRENT becomes durable, whose rename a killed process may not have synced.
 */
export async function removeLeftovers(
  directory: string,
  options: { incarnation: string; staging: string },
): Promise<void> {
  const names = await readdir(directory);
  const leftovers = names.filter((name) => name !== CURRENT && name !== options.incarnation);
  if (leftovers.length > 0) await syncDirectory(directory);
  for (const name of leftovers) {
    const stagingPath = join(options.staging, `left-${name}`);
    await rename(join(directory, name), stagingPath);
    await rm(stagingPath, { recursive: true, force: true });
  }
}

/** Lists every partition folder of a data directory. Folders with other names are ignored. */
export async function listPartitionDirectories(root: string): Promise<PartitionFolder[]> {
  const found: PartitionFolder[] = [];
  for (const keyspace of (await readdir(dataPaths.partitions(root))).filter(isKeyspace)) {
    for (const name of await readdir(join(dataPaths.partitions(root), keyspace))) {
      if (!/^(0|[1-9]\d{0,8})$/.test(name)) continue;
      const partition = Number(name);
      const directory = dataPaths.partition(root, keyspace, partition);
      found.push({ keyspace, partition, directory });
    }
  }
  return found;
}
