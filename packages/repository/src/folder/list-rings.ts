// Lists the rings in a folder of rings.
import { readdir, stat } from 'node:fs/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { keyspaceNamePattern } from '@ringwright/ring/keyspace-name';
import { ringFolder } from './ring-folder.ts';

/**
 * Returns the names of the ring folders in `rings`, sorted; none if the folder does not exist. Also
 * lists rings that are unreadable or have lost builder.json: opening them reports the cause.
 */
export async function listRings(rings: string): Promise<string[]> {
  const names = (await readdir(rings).catch(nullIfMissing)) ?? [];
  const candidates = names.filter((name) => keyspaceNamePattern.test(name));
  const isThere = (path: string): Promise<boolean> => stat(path).then(() => true, mayBeThere);
  const found = await Promise.all(
    candidates.map(async (name) => {
      const { builder, log } = ringFolder(rings, name);
      return (await isThere(builder)) || isThere(log);
    }),
  );
  return candidates.filter((_, at) => found[at]).sort();
}

/**
 * As listRings, but throws RINGS_UNKNOWN if the folder does not exist, because that says nothing
 * about its rings.
 */
export async function requireRings(rings: string): Promise<string[]> {
  if (await exists(rings)) return listRings(rings);
  throw new CodedError('RINGS_UNKNOWN', `the folder of rings ${rings} does not exist`, {
    hint:
      '--rings DIR selects another folder; ring-builder create makes it with its first ring; if ' +
      'it was lost, ring-builder restore RING --from IP:PORT restores each ring from a server',
    details: { rings },
  });
}

function mayBeThere(error: NodeJS.ErrnoException): boolean {
  return error.code !== 'ENOENT' && error.code !== 'ENOTDIR';
}
