// File operations that are on disk when they return: every rename and creation syncs its directory.
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Makes the entries of a directory durable. Directories are no databases: closing them drops no
 * lock.
 */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function syncDirectoryNow(directory: string): void {
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Creates a directory if it is not there; its entry in the parent is durable either way. */
export async function makeDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await syncDirectory(dirname(directory));
}

/** Renames within one file system; both parents are synced. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** A new file with these bytes, synced; the caller syncs the directory. */
export async function writeNewFile(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a small file in one turn of the event loop. After a crash it holds the old or the new
 * text, and the new text for certain once this returned.
 */
export function replaceFileNow(file: string, text: string): void {
  const temporary = `${file}.new`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  // failpoint: replace-file.before-rename
  renameSync(temporary, file);
  syncDirectoryNow(join(file, '..'));
}
