// The paths of a ring's files: builder.json, log.jsonl, versions/ and receipts/.
import { join } from 'node:path';
import { checkKeyspaceName } from '@ringwright/ring/keyspace-name';

export interface RingFolder {
  readonly ring: string;
  readonly path: string;
  readonly builder: string;
  readonly log: string;
  readonly versions: string;
  readonly receipts: string;
}

/**
 * Returns the paths of a ring's files. Throws NAME_INVALID, so that no name leads out of the
 * folder.
 */
export function ringFolder(rings: string, ring: string): RingFolder {
  checkKeyspaceName(ring);
  const path = join(rings, ring);
  return {
    ring,
    path,
    builder: join(path, 'builder.json'),
    log: join(path, 'log.jsonl'),
    versions: join(path, 'versions'),
    receipts: join(path, 'receipts'),
  };
}

/** Contains folders of rings, named by time, with the rings that `restore --replace` replaced. */
export function replacedPath(rings: string): string {
  // No ring name begins with a dot, so list, health and completion ignore it.
  return join(rings, '.replaced');
}

/** Returns where `archive` puts the pruned versions and receipts of a ring. */
export function archiveOf(
  archive: string,
  ring: string,
): Pick<RingFolder, 'versions' | 'receipts'> {
  const versions = join(archive, ring);
  return { versions, receipts: join(versions, 'receipts') };
}

/** Returns the path of a version's file. Its seven digits keep listings sorted. */
export function versionPath(folder: Pick<RingFolder, 'versions'>, version: number): string {
  return join(folder.versions, versionFileName(version));
}

export function versionFileName(version: number): string {
  return `${String(version).padStart(7, '0')}.ring`;
}

/** Returns the path of the receipts of the moves that a version finalized. */
export function receiptsPath(folder: Pick<RingFolder, 'receipts'>, version: number): string {
  return join(folder.receipts, receiptsFileName(version));
}

export function receiptsFileName(version: number): string {
  return `${String(version).padStart(7, '0')}.jsonl`;
}

export function versionOfFileName(name: string): number | null {
  const version = /^\d{7,10}\.ring$/.test(name) ? Number(name.slice(0, -'.ring'.length)) : 0;
  return version > 0 && versionFileName(version) === name ? version : null;
}

/** Returns the working copy's path of a stored file: a version, or the receipts of one. */
export function workingPath(
  folder: RingFolder,
  { name, version }: { readonly name: string; readonly version: number },
): string {
  return name.endsWith('.jsonl') ? receiptsPath(folder, version) : versionPath(folder, version);
}
