// Removes files, however long, so that the disk is there for others meanwhile.
import { constants } from 'node:fs';
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { onlyMissing } from './missing-file.ts';

/**
 * What a file loses at once. To give back a GiB in one step holds up every sync on its file system:
 * 130 ms on ext4, where steps of this hold up 10.
 */
const STEP_BYTES = 32 * 1024 * 1024;

/**
 * A file, or a folder with all in it; nothing where there is none, also when somebody else removes
 * it meanwhile. Names go first, so a crash leaves no file that is cut. Nothing is synced. Who has
 * one of the files open finds it cut.
 */
export async function removeFiles(target: string): Promise<void> {
  for (const file of await filesIn(target)) await removeFile(file);
  await rm(target, { recursive: true, force: true });
}

async function filesIn(target: string): Promise<string[]> {
  const found = await lstat(target).catch(onlyMissing);
  if (found?.isDirectory() !== true) return found?.isFile() === true ? [target] : [];
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** What cannot be opened, or has another name, is left to be removed at once, or to stay. */
async function removeFile(file: string): Promise<void> {
  await using handle = await open(file, constants.O_RDWR | constants.O_NOFOLLOW).catch(() => null);
  if (handle === null) return;
  await rm(file, { force: true });
  const { size, nlink } = await handle.stat();
  if (nlink > 0) return;
  for (let left = size - STEP_BYTES; left > 0; left -= STEP_BYTES) await handle.truncate(left);
}
