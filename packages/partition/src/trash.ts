// Dropped partitions: folders kept for a while, named by the time of the drop.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { dataPaths } from './data-paths.ts';
import { renameDurably, syncDirectory } from './durable-files.ts';

/** `name` starts with the time in ms and a dash. */
export async function moveToTrash(root: string, directory: string, name: string): Promise<void> {
  await renameDurably(directory, join(dataPaths.trash(root), name));
}

/** Deletes the folders that were dropped before `beforeMs`; resolves to their count. */
export async function purgeTrash(root: string, beforeMs: number): Promise<number> {
  const trash = dataPaths.trash(root);
  let count = 0;
  for (const name of await readdir(trash)) {
    const atMs = /^(\d{1,16})-/.exec(name)?.[1];
    if (atMs === undefined || Number(atMs) >= beforeMs) continue;
    await rm(join(trash, name), { recursive: true, force: true });
    count += 1;
  }
  if (count > 0) await syncDirectory(trash);
  return count;
}
