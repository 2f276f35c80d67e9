// A ring from elsewhere as a ring folder with its first version: there as a whole or not at all.
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '@ringwright/base/assert';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { syncDirectory, temporaryPrefix } from '@ringwright/node/durable-files';
import { exists } from '@ringwright/node/missing-file';
import type { Ring } from '@ringwright/ring/ring';
import { commitVersion } from './commit-version.ts';
import { createRing } from './create-ring.ts';
import type { LogEntry } from './folder/log-entry.ts';
import type { Head } from './folder/read-log.ts';
import { ringExists } from './folder/require-ring.ts';
import { ringFolder } from './folder/ring-folder.ts';
import { openRing } from './open-ring.ts';

export interface RingToAdd {
  /** Version 1; null for a ring that has devices and no version yet. */
  readonly ring: Ring | null;
  readonly state: BuilderState;
  /** As typed, for the log. */
  readonly command: string;
  readonly entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'figures' | 'details'>;
}

/**
 * Adds the ring and returns its head. Made in a folder beside and renamed: whatever is killed, no
 * ring without its version is left, which a commit would place anew. Throws NAME_INVALID,
 * RING_EXISTS.
 */
export async function addRing(rings: string, toAdd: RingToAdd): Promise<Head | null> {
  const { ring, state, command } = toAdd;
  const { path } = ringFolder(rings, state.ring);
  if (await exists(path)) throw ringExists(state.ring, path);
  const aside = join(rings, `${temporaryPrefix}add-${process.pid}-${state.ring}`);
  await rm(aside, { recursive: true, force: true });
  await mkdir(aside, { recursive: true });
  try {
    await createRing(aside, state, command);
    const head = ring === null ? null : await commitFirst(aside, { ...toAdd, ring });
    await rename(ringFolder(aside, state.ring).path, path);
    await syncDirectory(rings);
    return head;
  } catch (error) {
    if (await exists(path)) throw ringExists(state.ring, path);
    throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function commitFirst(
  aside: string,
  { ring, state, entry }: RingToAdd & { readonly ring: Ring },
): Promise<Head> {
  assert(ring.version === 1 && ring.moves.length === 0, 'a ring begins with version 1');
  const { head, stagedDigest } = await openRing(aside, state.ring);
  return commitVersion(aside, {
    ring,
    state,
    entry: { ...entry, kind: 'commit', moves: 0 },
    expected: { head, stagedDigest },
  });
}
