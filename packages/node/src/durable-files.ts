// Changes files so that a crash leaves the old or the new content, never a mixture. The changes are
// on disk when a function returns: each syncs the directories that it changed.
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '@ringwright/base/thrown';
import { makeDirectories } from './make-directories.ts';
import { nullIfMissing } from './missing-file.ts';
import { SharedRuns } from './shared-runs.ts';
import { withPath } from './with-path.ts';

/** Prefix of files that a crash may leave behind; nobody reads them. */
export const temporaryPrefix = '.tmp-';
const temporaryName = new RegExp(`^\\${temporaryPrefix}[0-9]+-[0-9a-f]+-`);

/** Returns the name that a temporary file was to become; another name is returned as it is. */
export function finalName(name: string): string {
  return name.replace(temporaryName, '');
}

/** Removes what killed writers of a file left behind. Nobody else may be writing the file. */
export async function removeTemporaries(path: string): Promise<void> {
  const [directory, final] = [dirname(path), basename(path)];
  for (const name of (await readdir(directory).catch(nullIfMissing)) ?? []) {
    if (name === final || finalName(name) !== final) continue;
    await rm(join(directory, name), { force: true });
  }
}

const directorySyncs = new SharedRuns(syncEntries);

/** Makes the entries of a directory durable. Calls during a running sync share the next one. */
export function syncDirectory(directory: string): Promise<void> {
  return directorySyncs.run(directory);
}

async function syncEntries(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync().catch(withPath(directory));
}

/** Makes a file's content durable, whoever wrote it. */
export async function syncFile(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.sync().catch(withPath(file));
}

function syncDirectoryNow(directory: string): void {
  using ends = new DisposableStack();
  const fd = ends.adopt(openSync(directory, 'r'), closeSync);
  fsyncSync(fd);
}

/** Creates a directory if it does not exist; in both cases its entry in the parent is durable. */
export async function makeDirectory(directory: string): Promise<void> {
  const made = await makeDirectories(directory);
  for (const each of new Set([...made, directory])) await syncDirectory(dirname(each));
}

/**
 * Creates a directory and its parents; the entries of those that it creates are durable. An
 * existing directory may have a parent that this user cannot read.
 */
export async function makeDirectoryPath(directory: string, mode = 0o777): Promise<void> {
  for (const made of await makeDirectories(directory, mode)) await syncDirectory(dirname(made));
}

/** Renames within one file system, and syncs both parents. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) await syncDirectory(dirname(from));
}

/** Creates and syncs a file; the caller syncs the directory. */
export async function writeNewFile(
  file: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  await using handle = await open(file, 'wx', mode);
  await handle.writeFile(content).catch(withPath(file));
  await handle.sync().catch(withPath(file));
}

/** Writes a file that may exist. Several processes may write it: the last one wins. */
export async function replaceDurably(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = await writeTemporary(path, content, 0o666);
  await renameDurably(temporary, path);
}

/**
 * The same for a file that only this process writes, and only its owner may read. The next call
 * overwrites what a crash leaves behind, so nobody has to clean up. Writers of one file must not
 * overlap.
 */
export async function replaceOwnFile(file: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${file}.new`;
  await rm(temporary, { force: true });
  await writeNewFile(temporary, bytes);
  // failpoint: write-durably.before-rename
  await renameDurably(temporary, file);
}

/** `replaceOwnFile` for a small text, in one turn of the event loop. */
export function replaceOwnFileNow(file: string, text: string): void {
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
  syncDirectoryNow(dirname(file));
}

/**
 * Adds a file that must not exist yet; returns false, and changes nothing, if it does. Files of a
 * ring's folder may be read by others, as the umask permits.
 */
export async function addDurably(
  path: string,
  content: string | Uint8Array,
  mode = 0o666,
): Promise<boolean> {
  const temporary = await writeTemporary(path, content, mode);
  try {
    await link(temporary, path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
  await syncDirectory(dirname(path));
  return true;
}

async function writeTemporary(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<string> {
  // Two machines may share the folder and have the same process id.
  const unique = `${process.pid}-${randomBytes(4).toString('hex')}`;
  const temporary = join(dirname(path), `${temporaryPrefix}${unique}-${basename(path)}`);
  try {
    await writeNewFile(temporary, content, mode);
  } catch (error) {
    // A full disk must not leave half a file behind.
    await rm(temporary, { force: true });
    throw error;
  }
  return temporary;
}
