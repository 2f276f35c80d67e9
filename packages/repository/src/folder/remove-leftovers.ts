// Removes from a ring's folder what a killed or refused command left there.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryPrefix } from '@ringwright/node/durable-files';
import { nullIfMissing } from '@ringwright/node/missing-file';
import { type RingFolder, receiptsFileName, versionOfFileName } from './ring-folder.ts';

/**
 * Removes temporary files, and a version with receipts that was written but never became the head.
 * `head`: version of the head in the log of the folder. The caller holds the lock.
 */
export async function removeLeftovers(folder: RingFolder, head: number): Promise<void> {
  for (const name of await readdir(folder.path)) {
    // Not a lock claim in preparation: it has a temporary name too, but its process may be alive.
    if (name.startsWith(temporaryPrefix) && !name.startsWith(`${temporaryPrefix}.`)) {
      await rm(join(folder.path, name), { force: true });
    }
  }
  for (const name of (await readdir(folder.versions).catch(nullIfMissing)) ?? []) {
    const version = versionOfFileName(name);
    if (name.startsWith(temporaryPrefix) || (version !== null && version > head)) {
      await rm(join(folder.versions, name), { force: true });
    }
  }
  for (const name of (await readdir(folder.receipts).catch(nullIfMissing)) ?? []) {
    if (name.startsWith(temporaryPrefix) || name > receiptsFileName(head)) {
      await rm(join(folder.receipts, name), { force: true });
    }
  }
}
