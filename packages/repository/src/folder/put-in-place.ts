// A ring's folder is made aside and then put in its place, whole or not at all; the one that was
// there before is kept, where it may be replaced.
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { CodedError } from '@ringwright/base/coded-error';
import { syncDirectory, temporaryPrefix } from '@ringwright/node/durable-files';
import { exists, onlyMissing } from '@ringwright/node/missing-file';
import { ringExists } from './require-ring.ts';
import { type RingFolder, ringFolder } from './ring-folder.ts';
import { isDead, removeClaims, withRingLock } from './ring-lock.ts';

/** No name of a ring begins with a dot: list, health and completion pass it over. */
const replacedName = '.replaced';

export interface Placing {
  readonly author: { readonly user: string; readonly time: string };
  /** Keep the ring that is there in a folder of rings of its own; false: none may be there. */
  readonly replace: boolean;
}

/**
 * `make` fills a folder of its own rings folder, versions/ included, which then becomes the ring's.
 * Without `placing` the ring is a new one. Returns the folder of rings that keeps the ring that was
 * here, log and staged changes included; null when there was none. Should it be killed between the
 * two renames, the ring is in that folder only. Throws RING_EXISTS, LOCK_HELD, and what `make`
 * throws.
 */
export async function putInPlace(
  folder: RingFolder,
  placing: Placing | null,
  make: (made: RingFolder) => Promise<void>,
): Promise<string | null> {
  const rings = dirname(folder.path);
  const isThere = await exists(folder.path);
  const author = placing?.replace === true ? placing.author : null;
  if (isThere && author === null) throw isInTheWay(folder, placing);
  await sweep(rings);
  const aside = join(rings, `${temporaryPrefix}${process.pid}@${hostname()}@${folder.ring}`);
  const made = ringFolder(aside, folder.ring);
  await rm(aside, { recursive: true, force: true });
  try {
    // One by one: of several at once, Node says ENOENT on a file system that is read-only.
    await mkdir(rings, { recursive: true });
    for (const each of [aside, made.path, made.versions]) await mkdir(each);
    await make(made);
    if (isThere && author !== null) {
      return await withRingLock(folder, author, () => exchange(folder, made, author));
    }
    // Renaming onto a folder with files in it fails, so of two that make one ring, one wins.
    await rename(made.path, folder.path);
    await syncDirectory(rings);
    return null;
  } catch (error) {
    if (!isThere && (await exists(folder.builder))) throw isInTheWay(folder, placing);
    throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** Removes what processes of this machine were making when they were killed. */
async function sweep(rings: string): Promise<void> {
  for (const name of (await readdir(rings).catch(onlyMissing)) ?? []) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const [pid = '', host] = name.slice(temporaryPrefix.length).split('@');
    if (host === undefined || !isDead({ pid: Number(pid), host })) continue;
    // What another account left stays: it is in nobody's way.
    await rm(join(rings, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function exchange(
  folder: RingFolder,
  made: RingFolder,
  { time }: Placing['author'],
): Promise<string> {
  const rings = dirname(folder.path);
  const kept = join(rings, replacedName, time.replaceAll(':', ''));
  await mkdir(kept, { recursive: true });
  const before = ringFolder(kept, folder.ring);
  await rename(folder.path, before.path);
  await rename(made.path, folder.path);
  await removeClaims(before);
  for (const changed of [kept, dirname(kept), rings]) await syncDirectory(changed);
  return kept;
}

function isInTheWay({ ring, path }: RingFolder, placing: Placing | null): CodedError {
  if (placing === null) return ringExists(ring, path);
  const replace = `ring-builder restore ${ring} --from … --replace`;
  return ringExists(ring, path, `${replace} keeps it aside and takes the other`);
}
