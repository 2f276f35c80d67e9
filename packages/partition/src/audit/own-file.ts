// Makes a staged file that was just audited this device's own. Afterwards its folder needs only its
// final name to be a partition's folder.
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory, syncFile } from '@ringwright/node/durable-files';
import type Database from 'better-sqlite3';
import type { PartitionRef } from '../file/data-paths.ts';
import type { NewPartition } from '../file/new-partition-file.ts';
import { currentFile, currentText } from '../file/partition-directory.ts';
import { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo } from '../file/partition-info.ts';

/** The identity that the file gets. Its incarnation also names the folder that contains it. */
export type FileOwner = Omit<NewPartition, keyof PartitionRef>;

export interface OwnedFile {
  readonly info: PartitionInfo;
  /** The highest ms of any stamp in it. */
  readonly highestMs: number;
}

/** Syncs nothing: see `makeOwnedDurable`. */
export function ownFile(db: Database.Database, owner: FileOwner): OwnedFile {
  const file = new PartitionFile(db);
  file.takeOver({ ...owner, barrierMs: 0 });
  if (!file.checkpoint('TRUNCATE')) throw new Error(`${db.name} could not be checkpointed`);
  return { info: file.info(), highestMs: file.highestMs };
}

/**
 * For a closed file in a staged folder. Everything is synced at once, because the staged CURRENT
 * counts only after its folder gets its final name.
 */
export async function makeOwnedDurable(file: string, { incarnation }: FileOwner): Promise<void> {
  const directory = dirname(file);
  const home = dirname(directory);
  const current = currentFile(home);
  await writeFile(current, currentText(incarnation), { flag: 'wx', mode: 0o600 });
  await Promise.all([...[file, current].map(syncFile), ...[directory, home].map(syncDirectory)]);
}
