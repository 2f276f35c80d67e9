// Returns the servers of every ring of a folder, each once.

import { requireRings } from '@ringwright/repository/folder/list-rings';
import { headOf, readLog } from '@ringwright/repository/folder/read-log';
import { readVersion } from '@ringwright/repository/folder/read-version';
import { ringTargets, type Target } from '../servers/ring-targets.ts';

/** Rings without a version have no servers yet. */
export async function allTargets(rings: string): Promise<Pick<Target, 'address'>[]> {
  const addresses = new Set<string>();
  for (const ring of await requireRings(rings)) {
    if (headOf(await readLog(rings, ring)) === null) continue;
    const { ring: head, state } = await readVersion(rings, ring, 'head');
    for (const { address } of ringTargets(head, state)) addresses.add(address);
  }
  return [...addresses].map((address) => ({ address }));
}
