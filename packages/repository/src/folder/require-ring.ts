// A ring that is named must be there; if not, what was meant, and how a lost one comes back.
import { dirname } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { exists } from '@ringwright/node/missing-file';
import { listRings } from './list-rings.ts';
import { nearNames } from './near-names.ts';
import { type RingFolder } from './ring-folder.ts';

/** Throws RING_UNKNOWN when there is no such ring. */
export async function requireRing(folder: RingFolder): Promise<void> {
  if (await exists(folder.builder)) return;
  const { ring, builder: path } = folder;
  const rings = dirname(folder.path);
  const near = nearNames(ring, await listRings(rings).catch(() => []));
  const lost = `if it was lost: ring-builder restore ${ring} --from FILE.ring, or --from IP:PORT`;
  const hint =
    near.length > 0
      ? `did you mean ${near.join(' or ')}? ring-builder list shows all; ${lost}`
      : `ring-builder list shows those of ${rings}, --rings DIR names another folder; ${lost}; ` +
        `a new one: ring-builder create ${ring} --partition-power 8 --replicas 3`;
  throw new CodedError('RING_UNKNOWN', `no ring "${ring}": ${path} is not there`, {
    hint,
    details: { ring, path, near },
  });
}

export function ringExists(
  ring: string,
  path: string,
  instead = 'choose another name',
): CodedError {
  return new CodedError('RING_EXISTS', `ring ${ring} is there already: ${path}`, {
    hint: `ring-builder status ${ring}, or ${instead}`,
    details: { ring, path },
  });
}
