// The frame of every change to a ring's folder: lock, clean up after a crash, work, unlock.
import { replaceDurably } from '@ringwright/node/durable-files';
import { type BuilderFile, printBuilderFile } from './folder/builder-file.ts';
import type { RingLog } from './folder/read-log.ts';
import { removeLeftovers } from './folder/remove-leftovers.ts';
import { requireRing } from './folder/require-ring.ts';
import { type RingFolder } from './folder/ring-folder.ts';
import { withRingLock } from './folder/ring-lock.ts';
import { readFolder } from './open-ring.ts';
import { cloneRing, pullHead } from './shared/pull-head.ts';
import type { SharedHead } from './shared/shared-head.ts';
import { readStoreFile } from './shared/store-file.ts';

/** The author of a change, for the lock and the log. `time`: ISO 8601, UTC. */
export interface Author {
  readonly user: string;
  readonly time: string;
}

export interface WritableRing {
  readonly folder: RingFolder;
  readonly file: BuilderFile;
  readonly log: RingLog;
  /** The shared head of record; null if this folder is it (no rings/store.json). */
  readonly shared: SharedHead | null;
}

/**
 * Runs `work` as the only writer of this folder, on the newest head and without leftovers. Throws
 * RING_UNKNOWN, LOCK_HELD, and with a shared head what pullHead throws.
 */
export async function writeRing<T>(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  work: (ring: WritableRing) => Promise<T>,
): Promise<T> {
  const folder = await requireRing(location.rings, location.ring);
  return withRingLock(folder, author, async () => {
    const shared = await pullHead(location.rings, folder);
    const { file, log, behind } = await readFolder(folder);
    if (behind) await replaceDurably(folder.builder, printBuilderFile(file));
    await removeLeftovers(folder, file.head?.version ?? 0);
    return work({ folder, file, log, shared });
  });
}

/**
 * Brings a working copy up to the head of record before it is read or staged on. Does nothing in a
 * folder without a store. Throws RING_UNKNOWN, LOCK_HELD, STAGED_ON_OLD_HEAD if it has caught up
 * and its staged changes were made for an older head, and what pullHead throws.
 */
export async function catchUp(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
): Promise<void> {
  if ((await readStoreFile(location.rings)) === null) return;
  if (await cloneRing(location, author)) return;
  await writeRing(location, author, () => Promise.resolve());
}
