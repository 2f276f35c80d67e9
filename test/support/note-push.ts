// Notes in the log that the head was pushed, although no server received it.

import { join } from 'node:path';
import { must } from '@ringwright/base/assert';
import { type Note, noteVersion } from '@ringwright/repository/append-log';
import { openRing } from '@ringwright/repository/open-ring';
import type { VersionId } from '@ringwright/ring/audit/ring-candidate';

/** `folder` contains the folder of rings. */
export async function notePush(folder: string, ring = 'cities'): Promise<void> {
  const rings = join(folder, 'rings');
  const { head } = await openRing(rings, ring);
  const entry = { time: '2026-11-21T03:00:00.000Z', user: 'ada', message: '', details: {} };
  await appendPush({ rings, ring }, must(head, `${ring} has a version`), entry);
}

export function appendPush(
  place: { readonly rings: string; readonly ring: string },
  pushed: VersionId,
  note: Omit<Note, 'kind' | 'commands'>,
): Promise<void> {
  return noteVersion(place, pushed, { ...note, kind: 'push', commands: [] });
}
