// Removes old versions and their receipts from a ring's folder. The log keeps their entries.
import { readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { ringFileBytesMax } from '@ringwright/base/limits';
import { addDurably, makeDirectoryPath, syncDirectory } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { readRegularFile } from '@ringwright/node/read-regular-file';
import { appendNote } from './append-log.ts';
import {
  archiveOf,
  type RingFolder,
  receiptsPath,
  versionOfFileName,
  versionPath,
} from './folder/ring-folder.ts';
import { versionSpan } from './folder/version-span.ts';
import { type Author, type WritableRing, writeRing } from './write-ring.ts';

interface Pruned {
  readonly versions: readonly number[];
  readonly bytes: number;
}

interface PruneRequest {
  /** Number of newest versions to keep, including the head: 1 or more. */
  readonly keep: number;
  /** Folder to copy the files to first, in a subfolder of the ring's name. */
  readonly archive: string | null;
  readonly command: string;
}

/**
 * Copies the files to the archive, notes in the log what will be missing, then removes them. A
 * crash leaves too many files, never too few. Throws RING_UNKNOWN, LOCK_HELD, ARCHIVE_DIFFERS.
 */
export async function pruneVersions(
  location: { readonly rings: string; readonly ring: string },
  author: Author,
  request: PruneRequest,
): Promise<Pruned> {
  return writeRing(location, author, async (ring) => {
    const head = ring.file.head;
    const through = (head?.version ?? 0) - request.keep;
    const versions = (await versionsThere(ring.folder)).filter((version) => version <= through);
    const [from] = versions;
    if (head === null || from === undefined) return { versions: [], bytes: 0 };
    const bytes = await archiveAll(ring, versions, request.archive);
    await appendNote(ring, head, {
      ...author,
      kind: 'prune',
      message: versionSpan(from, through),
      commands: [request.command],
      details: { from, through, archive: request.archive },
    });
    // Versions first: a version without its receipts would look damaged.
    for (const pathOf of [versionPath, receiptsPath]) {
      for (const version of versions) await rm(pathOf(ring.folder, version), { force: true });
      await syncDirectory(dirname(pathOf(ring.folder, from))).catch(nullIfMissing);
    }
    return { versions, bytes };
  });
}

async function archiveAll(
  { folder }: WritableRing,
  versions: readonly number[],
  archive: string | null,
): Promise<number> {
  const archiveFolder = archive === null ? null : archiveOf(archive, folder.ring);
  let bytes = 0;
  for (const version of versions) {
    for (const pathOf of [versionPath, receiptsPath]) {
      const path = pathOf(folder, version);
      const content = await readRegularFile(path, ringFileBytesMax).catch(nullIfMissing);
      if (content === null) continue;
      bytes += content.length;
      if (archiveFolder !== null) await archiveFile(pathOf(archiveFolder, version), content);
    }
  }
  return bytes;
}

/** Throws ARCHIVE_DIFFERS if another file is in the way. */
async function archiveFile(path: string, content: Uint8Array): Promise<void> {
  await makeDirectoryPath(dirname(path));
  if (await addDurably(path, content)) return;
  // An interrupted prune has already copied it.
  if (Buffer.from(content).equals(await readRegularFile(path, ringFileBytesMax))) return;
  throw new CodedError('ARCHIVE_DIFFERS', `${path} already exists with other content`, {
    hint: 'name another folder; nothing was removed',
    details: { path },
  });
}

async function versionsThere(folder: RingFolder): Promise<number[]> {
  const names = (await readdir(folder.versions).catch(nullIfMissing)) ?? [];
  const versions = names.map(versionOfFileName).filter((version) => version !== null);
  return versions.sort((a, b) => a - b);
}
