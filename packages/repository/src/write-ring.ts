// The frame of every change to a ring's folder: lock, tidy up after a crash, work, unlock.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceDurably, temporaryPrefix } from '@ringwright/node/durable-files';
import { onlyMissing } from '@ringwright/node/missing-file';
import { type BuilderFile, printBuilderFile } from './folder/builder-file.ts';
import type { RingLog } from './folder/read-log.ts';
import { requireRing } from './folder/require-ring.ts';
import {
  type RingFolder,
  receiptsFileName,
  ringFolder,
  versionOfFileName,
} from './folder/ring-folder.ts';
import { withRingLock } from './folder/ring-lock.ts';
import { readFolder } from './open-ring.ts';
import { pullHead } from './shared/pull-head.ts';
import type { SharedHead } from './shared/shared-head.ts';

/** Who does it, for the lock and the log. `time` is ISO 8601, UTC. */
export interface Author {
  readonly user: string;
  readonly time: string;
}

export interface WritableRing {
  readonly folder: RingFolder;
  readonly file: BuilderFile;
  readonly log: RingLog;
  /** The head of record, when it is not this folder itself: rings/store.json. */
  readonly shared: SharedHead | null;
}

/**
 * Runs `work` as the only writer of this folder, without leftovers, on the newest head. Throws
 * RING_UNKNOWN, LOCK_HELD, and where the head is shared what pullHead throws.
 */
export async function writeRing<T>(
  place: { readonly rings: string; readonly ring: string },
  author: Author,
  work: (ring: WritableRing) => Promise<T>,
): Promise<T> {
  const folder = ringFolder(place.rings, place.ring);
  await requireRing(folder);
  return withRingLock(folder, author, async () => {
    const shared = await pullHead(place.rings, folder);
    const { file, log, behind } = await readFolder(folder);
    if (behind) await replaceDurably(folder.builder, printBuilderFile(file));
    await removeLeftovers(folder, file.head?.version ?? 0);
    return work({ folder, file, log, shared });
  });
}

/** Temporary files, and a version that was written, with receipts, but never became the head. */
async function removeLeftovers(folder: RingFolder, head: number): Promise<void> {
  for (const name of await readdir(folder.path)) {
    // A claim of a lock is prepared under a temporary name too, by a process that is alive.
    if (name.startsWith(temporaryPrefix) && !name.startsWith(`${temporaryPrefix}.`)) {
      await rm(join(folder.path, name), { force: true });
    }
  }
  for (const name of (await readdir(folder.versions).catch(onlyMissing)) ?? []) {
    const version = versionOfFileName(name);
    if (name.startsWith(temporaryPrefix) || (version !== null && version > head)) {
      await rm(join(folder.versions, name), { force: true });
    }
  }
  for (const name of (await readdir(folder.receipts).catch(onlyMissing)) ?? []) {
    if (name.startsWith(temporaryPrefix) || name > receiptsFileName(head)) {
      await rm(join(folder.receipts, name), { force: true });
    }
  }
}
