// Dropped partitions: folders kept for a while, named by drop time, partition and incarnation.
import { readdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '@ringwright/node/durable-files';
import type { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { removeFiles } from '@ringwright/node/remove-files';
import { dataPaths } from '../file/data-paths.ts';

export interface TrashItem {
  /** Name of the folder, as `restoreTrash` takes it. */
  readonly name: string;
  /** Time of the drop, wall clock in ms. */
  readonly atMs: number;
  readonly keyspace: string;
  readonly partition: number;
  readonly incarnation: string;
  /** Total length of its files. */
  readonly bytes: number;
}

type Named = Omit<TrashItem, 'name' | 'bytes'>;

/** No component can contain a dot. */
const NAME = /^(\d{1,16})\.([a-z0-9][a-z0-9-]{0,62})\.(\d{1,9})\.([A-Za-z0-9_-]{1,64})$/;

/** A folder that never existed, or that somebody deleted, is skipped. */
export async function moveToTrash(root: string, directory: string, named: Named): Promise<void> {
  const { atMs, keyspace, partition, incarnation } = named;
  const trash = dataPaths.trash(root);
  const name = `${atMs}.${keyspace}.${partition}.${incarnation}`;
  try {
    await rename(directory, join(trash, name));
  } catch (error) {
    nullIfMissing(error);
    if (await exists(directory)) throw error;
    return;
  }
  await Promise.all([trash, dirname(directory)].map(syncDirectory));
}

/** Parses a folder name; null if no drop created it. */
export function parseTrashName(name: string): Named | null {
  const [, atMs, keyspace = '', partition, incarnation = ''] = NAME.exec(name) ?? [];
  if (atMs === undefined) return null;
  return { atMs: Number(atMs), keyspace, partition: Number(partition), incarnation };
}

/**
 * Oldest first; empty if somebody deleted the trash. Ignores folders with other names, and folders
 * that are deleted meanwhile.
 */
export async function listTrash(root: string): Promise<TrashItem[]> {
  const trash = dataPaths.trash(root);
  const items: TrashItem[] = [];
  for (const name of (await readdir(trash).catch(nullIfMissing)) ?? []) {
    const named = parseTrashName(name);
    if (named === null) continue;
    const bytes = await folderBytes(join(trash, name)).catch(nullIfMissing);
    if (bytes !== null) items.push({ name, ...named, bytes });
  }
  return items.sort((a, b) => a.atMs - b.atMs);
}

/** Path of the data file; absent if somebody deleted the file before the drop. */
export function trashedFile(
  root: string,
  { name, incarnation }: Pick<TrashItem, 'name' | 'incarnation'>,
): string {
  return join(dataPaths.trash(root), name, incarnation, 'data.db');
}

/** Key of the mutex that restores and trims take: no folder is deleted while it is copied. */
export function trashTurn(name: string): string {
  return `trash ${name}`;
}

/** Deletes what the limits do not allow. Resolves to what was deleted. */
export async function trimTrash(
  { root, mutex }: { readonly root: string; readonly mutex: KeyedMutex },
  limits: TrashLimits,
): Promise<TrashItem[]> {
  const removed: TrashItem[] = [];
  for (const item of chooseTrash(await listTrash(root), limits)) {
    await mutex.run(trashTurn(item.name), async () => {
      if (!(await exists(join(dataPaths.trash(root), item.name)))) return; // it was restored
      await removeTrash(root, item.name);
      removed.push(item);
    });
  }
  return removed;
}

export async function removeTrash(root: string, name: string): Promise<void> {
  const trash = dataPaths.trash(root);
  await removeFiles(join(trash, name));
  await syncDirectory(trash);
}

/** 0 for anything but a folder: a drop also moves what somebody put in place of a folder here. */
async function folderBytes(directory: string): Promise<number> {
  if (!(await stat(directory)).isDirectory()) return 0;
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

export interface TrashLimits {
  /** Partitions dropped before this wall-clock time are deleted. */
  readonly beforeMs: number;
  /** Maximum bytes of all that stays. */
  readonly bytesMax: number;
  /** Bytes that something else needs now; the trash never withholds space from it. */
  readonly bytesNeeded: number;
}

/**
 * Those that go for good: too old, too many bytes, or their room is needed. The oldest go first.
 * `items`: oldest first.
 */
export function chooseTrash(items: readonly TrashItem[], limits: TrashLimits): TrashItem[] {
  const { beforeMs, bytesMax, bytesNeeded } = limits;
  let bytesLeft = items.reduce((sum, { bytes }) => sum + bytes, 0);
  const bytesAllowed = Math.min(bytesMax, bytesLeft - bytesNeeded);
  return items.filter(({ atMs, bytes }) => {
    const isRemoved = atMs < beforeMs || bytesLeft > bytesAllowed;
    if (isRemoved) bytesLeft -= bytes;
    return isRemoved;
  });
}
