// The trash of one store. A dropped partition comes back as a file that lacks records, under a new
// incarnation and life.
//
// It never comes back as complete: what it missed since the drop nobody knows. And nobody mistakes
// it for the file it was: its sequence numbers are of another incarnation, frames of the log are of
// another life. So whoever asks for it gets what any filling file gets: a device that should hold
// the partition refills it, one that should not offers its records to the holders, under their own
// stamps and the holders' floors, and drops it again.

import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { exists } from '@ringwright/node/missing-file';
import { removeFiles } from '@ringwright/node/remove-files';
import { dataPaths, partitionName } from '../file/data-paths.ts';
import { restoreWal } from '../file/kept-wal.ts';
import { newPartition } from '../file/partition.ts';
import { placePartitionDirectory, syncPlaced } from '../file/partition-directory.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import { checkOpen, failed, type StoreParts } from '../store/store-parts.ts';
import { openNew } from './partition-lifecycle.ts';
import {
  listTrash,
  parseTrashName,
  removeTrash,
  type TrashLimits,
  trashedFile,
  trashTurn,
  trimTrash,
} from './trash.ts';

/**
 * The folder leaves the trash after the partition is in place: a crash in between leaves both.
 * Throws TRASH_UNKNOWN, PARTITION_EXISTS, DISK_FULL, STORE_FAILED, and PARTITION_DAMAGED for a file
 * with findings, which stays in the trash.
 */
async function restoreTrash(parts: StoreParts, name: string): Promise<PartitionInfo> {
  const named = parseTrashName(name);
  if (named === null) throw trashUnknown(name);
  return parts.mutex.run(partitionName(named), () =>
    parts.mutex.run(trashTurn(name), () => restoreNamed(parts, name, named)),
  );
}

async function restoreNamed(
  parts: StoreParts,
  name: string,
  named: NonNullable<ReturnType<typeof parseTrashName>>,
): Promise<PartitionInfo> {
  const { keyspace, partition } = named;
  const from = join(dataPaths.trash(parts.root), name, named.incarnation);
  const bytes = await bytesOf(from);
  if (bytes === null) throw trashUnknown(name);
  checkOpen(parts);
  if (parts.registry.get(keyspace, partition) !== undefined) {
    throw new CodedError('PARTITION_EXISTS', `${keyspace}/${partition} has a file here already`, {
      hint: 'a copy of the dropped file, with its WAL, can be read with sqlite3: both files stay where they are',
      details: { keyspace, partition, trash: from },
    });
  }
  const staged = parts.stagingPath('restore');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => removeFiles(staged));
  cleanup.use(await parts.disk.reserve(2 * bytes));
  const incarnation = parts.newIncarnation();
  await stage(parts, { from, staged, incarnation });
  if (!(await placePartitionDirectory(parts, staged, named))) {
    throw new Error(
      `a folder of ${partitionName(named)} exists here, but the store does not know it`,
    );
  }
  // If the folder were on disk but unknown here, a partition created in its place would lose its
  // log.
  await syncPlaced(parts.root, named).catch((error: unknown) => {
    throw failed(parts, error);
  });
  const entry = newPartition({ keyspace, partition, incarnation });
  const info = openNew(parts, entry);
  parts.registry.add(entry);
  // failpoint: restore.before-remove
  await removeTrash(parts.root, name);
  return info;
}

function trashUnknown(name: string): CodedError {
  return new CodedError(
    'TRASH_UNKNOWN',
    `there is no dropped partition ${JSON.stringify(name)} here`,
    { hint: 'ring-builder trash RING list' },
  );
}

/** Bytes of the file and its WAL; null if there is no file. */
async function bytesOf(folder: string): Promise<number | null> {
  const sizeOf = async (name: string): Promise<number | null> =>
    (await stat(join(folder, name)).catch(() => null))?.size ?? null;
  const file = await sizeOf('data.db');
  return file === null ? null : file + ((await sizeOf('data.db-wal')) ?? 0);
}

/** Stages a copy with its WAL, so that a failure leaves the trash as it was. */
async function stage(
  parts: StoreParts,
  { from, staged, incarnation }: { from: string; staged: string; incarnation: string },
): Promise<void> {
  const to = join(staged, incarnation);
  await mkdir(to, { recursive: true, mode: 0o700 });
  restoreWal(join(from, 'data.db'));
  for (const name of ['data.db', 'data.db-wal']) {
    const copy = { from: join(from, name), to: join(to, name), pages: null };
    if (await exists(copy.from)) await parts.copies.copyPages(copy);
  }
  const owner = { incarnation, life: incarnation, state: 'filling' } as const;
  const { findings } = await parts.audits.audit(join(to, 'data.db'), owner);
  checkOpen(parts);
  if (findings[0] === undefined) return;
  throw new CodedError('PARTITION_DAMAGED', `the dropped file: ${findings[0].message}`, {
    details: { findings },
  });
}

export function storeTrash(parts: StoreParts) {
  const { root, disk } = parts;
  return {
    /** Restorable partitions, oldest first; a folder without data.db is not listed. */
    list: async () => (await listTrash(root)).filter((item) => existsSync(trashedFile(root, item))),
    /**
     * Deletes what exceeds the limits, and more if the disk is full. Resolves to what was deleted.
     */
    trim: async (limits: Omit<TrashLimits, 'bytesNeeded'>) => {
      checkOpen(parts);
      return trimTrash(parts, { ...limits, bytesNeeded: await disk.lackingBytes() });
    },
    /** Restores a dropped partition as a filling one: see restore-trash.ts. */
    restore: async (name: string) => {
      checkOpen(parts);
      return restoreTrash(parts, name);
    },
  };
}
