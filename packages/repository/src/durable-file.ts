// Writing files so that a crash leaves either the old content or the new, never half of it.
import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Files of this kind are leftovers of a crash when nobody holds the lock. */
export const temporaryPrefix = '.tmp-';

/** Replaces a file: temp, fsync, rename, fsync of the folder. Durable when it returns. */
export async function replaceDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = await writeTemporary(path, content);
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** Adds a file that must not exist yet; returns false, and changes nothing, when it does. */
export async function addDurably(path: string, content: string | Uint8Array): Promise<boolean> {
  const temporary = await writeTemporary(path, content);
  try {
    await link(temporary, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
  return true;
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeTemporary(path: string, content: string | Uint8Array): Promise<string> {
  // Two machines may share the folder, and a process id.
  const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const temporary = join(dirname(path), `${temporaryPrefix}${unique}-${basename(path)}`);
  try {
    const file = await open(temporary, 'w');
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    // A full disk must not leave half a file behind.
    await rm(temporary, { force: true });
    throw error;
  }
  return temporary;
}
