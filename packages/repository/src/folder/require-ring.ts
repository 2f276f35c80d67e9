// Requires a named ring to exist. If it does not, suggests similar names and how to restore a lost
// ring.
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { quoteCommand, quoteWord } from '@ringwright/base/quote-command';
import { exists, nullIfMissing } from '@ringwright/node/missing-file';
import { listRings } from './list-rings.ts';
import { type RingFolder, replacedPath, ringFolder } from './ring-folder.ts';

const NEAR_MAX = 3;

/**
 * Throws NAME_INVALID, RING_UNKNOWN if there is no such ring, RING_LOG_DAMAGED without
 * builder.json.
 */
export async function requireRing(rings: string, ring: string): Promise<RingFolder> {
  const folder = ringFolder(rings, ring);
  const { builder: path } = folder;
  if (await exists(path)) return folder;
  if (await exists(folder.log)) throw builderLost(folder);
  const kept = await lastReplaced(rings, ring);
  if (kept !== null) throw onlyReplaced(folder, kept);
  const near = nearNames(ring, await listRings(rings).catch(() => []));
  const remedy = `if it was lost: ring-builder restore ${ring} --from FILE.ring, or --from IP:PORT`;
  const hint =
    near.length > 0
      ? `did you mean ${near.join(' or ')}? ring-builder list shows all; ${remedy}`
      : `ring-builder list lists the rings here, --rings DIR selects another folder; ${remedy}; ` +
        `to create it: ring-builder create ${ring} --partition-power 8 --replicas 3`;
  throw new CodedError('RING_UNKNOWN', `no ring "${ring}": ${path} does not exist`, {
    hint,
    details: { ring, path, near },
  });
}

/** Returns the ring folder that was replaced last, or null. */
async function lastReplaced(rings: string, ring: string): Promise<RingFolder | null> {
  const kept = replacedPath(rings);
  for (const time of ((await readdir(kept).catch(nullIfMissing)) ?? []).sort().reverse()) {
    const replaced = ringFolder(join(kept, time), ring);
    if (await exists(replaced.builder)) return replaced;
  }
  return null;
}

/** A restore --replace that was killed between its two renames leaves the old ring there. */
function onlyReplaced({ ring, path }: RingFolder, kept: RingFolder): CodedError {
  const message = `no ring "${ring}": ${path} does not exist, only the replaced ${kept.path}`;
  return new CodedError('RING_UNKNOWN', message, {
    hint:
      `if a restore --replace was stopped: mv ${quoteCommand([kept.path, path])} undoes it, then ` +
      `restore again; or ring-builder restore ${ring} --from FILE.ring, or --from IP:PORT`,
    details: { ring, path, kept: kept.path },
  });
}

function builderLost({ ring, builder, versions }: RingFolder): CodedError {
  const message = `${builder} is missing, but the log and the versions of ${ring} exist`;
  return new CodedError('RING_LOG_DAMAGED', message, {
    hint:
      'restore it from git or a copy; or take over what a server has, which keeps this folder: ' +
      `ring-builder restore ${ring} --from IP:PORT --replace, or --from a file in ${versions}`,
    details: { ring, path: builder },
  });
}

/** Throws RING_FOREIGN if the folder has the files of a ring with another name. */
export function requireFolderOf(folder: RingFolder, ring: string): void {
  if (folder.ring === ring) return;
  const path = join(dirname(folder.path), ring);
  const message = `${folder.path} contains ring ${ring}, but a ring's folder has the ring's name`;
  throw new CodedError('RING_FOREIGN', message, {
    hint:
      `if it was renamed: mv ${quoteWord(folder.path)} ${quoteWord(path)}; if it is a copy, ` +
      'remove it. A ring keeps its name: for another one, create a ring, then copy the records ' +
      `with ring-builder archive-data ${ring} and restore-data`,
    details: { ring: folder.ring, found: ring, path: folder.path },
  });
}

export function ringExists(
  ring: string,
  path: string,
  instead = 'choose another name',
): CodedError {
  return new CodedError('RING_EXISTS', `ring ${ring} already exists: ${path}`, {
    hint: `ring-builder status ${ring}, or ${instead}`,
    details: { ring, path },
  });
}

/**
 * Returns at most three names that may have been meant, nearest first: with typing errors in up to
 * a third of the letters, or beginning with the typed text.
 */
export function nearNames(typed: string, names: readonly string[]): string[] {
  const slips = Math.floor(typed.length / 3);
  return names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ name, distance }) => distance <= slips || name.startsWith(typed))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, NEAR_MAX)
    .map(({ name }) => name);
}

/**
 * Counts letters that are missing, added, changed or swapped with their neighbor: optimal string
 * alignment, the restricted distance of Damerau and Levenshtein.
 */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const added = 1 + Math.min(last[j] ?? Infinity, row[j - 1] ?? Infinity);
      const changed = same + (last[j - 1] ?? Infinity);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const turned = swapped ? 1 + (before[j - 2] ?? Infinity) : Infinity;
      row.push(Math.min(added, changed, turned));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? Infinity;
}
