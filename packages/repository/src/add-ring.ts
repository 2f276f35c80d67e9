// Adds a new ring: from settings alone, or from elsewhere with its first version.

import type { KeyObject } from 'node:crypto';
import { dirname } from 'node:path';
import { assert } from '@ringwright/base/assert';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { replaceDurably } from '@ringwright/node/durable-files';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';
import type { Ring } from '@ringwright/ring/ring';
import type { Trust } from '@ringwright/ring/trust/trust-root';
import { commitVersion } from './commit-version.ts';
import { printBuilderFile } from './folder/builder-file.ts';
import { installRingFolder } from './folder/install-ring-folder.ts';
import type { LogEntry } from './folder/log-entry.ts';
import { type RingFolder, ringFolder } from './folder/ring-folder.ts';
import { openRing } from './open-ring.ts';

/**
 * Adds a ring without versions to the rings folder, which is created if missing. `command` becomes
 * the first command of version 1. Throws NAME_INVALID, RING_EXISTS.
 */
export async function createRing(
  rings: string,
  state: BuilderState,
  command: string,
): Promise<void> {
  await installRingFolder(ringFolder(rings, state.ring), null, (folder) =>
    begin(folder, state, command),
  );
}

interface RingToAdd {
  /** Version 1; null for a ring that has devices and no version yet. */
  readonly ring: Ring | null;
  readonly state: BuilderState;
  /** The command as typed, for the log. */
  readonly command: string;
  readonly entry: Pick<LogEntry, 'time' | 'user' | 'message' | 'figures' | 'details'>;
  /** Null: the ring stays unsigned. */
  readonly signing: { readonly trust: Trust; readonly key: KeyObject } | null;
}

/**
 * Adds the ring and returns its head. A crash at any point leaves either no ring or the ring with
 * its version. (Without its version, a commit would place the ring anew.) Throws NAME_INVALID,
 * RING_EXISTS.
 */
export async function addRing(rings: string, toAdd: RingToAdd): Promise<VersionId | null> {
  const { ring, state, command } = toAdd;
  let head: VersionId | null = null;
  await installRingFolder(ringFolder(rings, state.ring), null, async (folder) => {
    await begin(folder, state, command);
    if (ring !== null) head = await commitFirst(dirname(folder.path), { ...toAdd, ring });
  });
  return head;
}

async function begin(folder: RingFolder, state: BuilderState, command: string): Promise<void> {
  const staged = [{ command, changes: [] }];
  await replaceDurably(folder.builder, printBuilderFile({ head: null, log: null, state, staged }));
}

async function commitFirst(
  rings: string,
  { ring, state, entry, signing }: RingToAdd & { readonly ring: Ring },
): Promise<VersionId> {
  assert(ring.version === 1 && ring.moves.length === 0, 'a ring begins with version 1');
  const { head, stagedDigest } = await openRing(rings, state.ring);
  return commitVersion(rings, {
    ring,
    state,
    entry: { ...entry, kind: 'commit', moves: 0 },
    expected: { head, stagedDigest },
    ...signing,
  });
}
