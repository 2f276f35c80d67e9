// Makes a ring's folder in a temporary place and moves it into position, whole or not at all. A
// ring that it replaces is kept.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { CodedError } from '@ringwright/base/coded-error';
import { makeDirectoryPath, syncDirectory, temporaryPrefix } from '@ringwright/node/durable-files';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { ringExists } from './require-ring.ts';
import { type RingFolder, replacedPath, ringFolder } from './ring-folder.ts';
import { isDead, removeClaims, withRingLock } from './ring-lock.ts';

export interface InstallOptions {
  readonly author: { readonly user: string; readonly time: string };
  /** Keep the existing ring in a folder of rings of its own; false: there must be none. */
  readonly replace: boolean;
}

/**
 * Calls `make` to fill a new ring folder, versions/ included, which then becomes the ring's.
 * Without `placing` the ring must be new. Returns the folder of rings that keeps the replaced ring
 * with its log and staged changes; null if there was none. A crash between the two renames leaves
 * the old ring in that folder only. Throws RING_EXISTS, LOCK_HELD, and what `make` throws.
 */
export async function installRingFolder(
  folder: RingFolder,
  placing: InstallOptions | null,
  make: (made: RingFolder) => Promise<void>,
): Promise<string | null> {
  const rings = dirname(folder.path);
  const isPresent = await exists(folder.path);
  const author = placing?.replace === true ? placing.author : null;
  if (isPresent && author === null) throw ringInTheWay(folder, placing);
  await sweep(rings);
  const temporaryPath = join(
    rings,
    `${temporaryPrefix}${process.pid}@${hostname()}@${folder.ring}`,
  );
  const newFolder = ringFolder(temporaryPath, folder.ring);
  await rm(temporaryPath, { recursive: true, force: true });
  try {
    // One directory at a time: on a read-only file system, Node's recursive mkdir reports ENOENT.
    await makeDirectoryPath(rings);
    for (const each of [temporaryPath, newFolder.path, newFolder.versions]) await mkdir(each);
    await make(newFolder);
    if (isPresent && author !== null) {
      return await withRingLock(folder, author, () => exchange(folder, newFolder, author));
    }
    // A rename onto a non-empty folder fails, so of two processes that make one ring, one wins.
    await rename(newFolder.path, folder.path);
    await syncDirectory(rings);
    return null;
  } catch (error) {
    if (!isPresent && (await exists(folder.builder))) throw ringInTheWay(folder, placing);
    throw error;
  } finally {
    await rm(temporaryPath, { recursive: true, force: true });
  }
}

/** Removes folders that killed processes of this machine left behind. */
async function sweep(rings: string): Promise<void> {
  for (const name of (await readdir(rings).catch(nullIfMissing)) ?? []) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const [pid = '', host] = name.slice(temporaryPrefix.length).split('@');
    if (host === undefined || !isDead({ pid: Number(pid), host })) continue;
    // Leftovers of another account cannot be removed, and do no harm.
    await rm(join(rings, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function exchange(
  folder: RingFolder,
  newFolder: RingFolder,
  { time }: InstallOptions['author'],
): Promise<string> {
  const rings = dirname(folder.path);
  const keptPath = join(replacedPath(rings), time.replaceAll(':', ''));
  await mkdir(keptPath, { recursive: true });
  const replaced = ringFolder(keptPath, folder.ring);
  await rename(folder.path, replaced.path);
  await rename(newFolder.path, folder.path);
  await removeClaims(replaced);
  for (const changed of [keptPath, dirname(keptPath), rings]) await syncDirectory(changed);
  return keptPath;
}

function ringInTheWay({ ring, path }: RingFolder, placing: InstallOptions | null): CodedError {
  if (placing === null) return ringExists(ring, path);
  const replace = `ring-builder restore ${ring} --from … --replace`;
  return ringExists(ring, path, `${replace} keeps it and uses the other one`);
}
