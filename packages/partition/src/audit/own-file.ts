// Gives a staged file, which was just audited, to this device: after it the folder around it needs
// nothing but its name to be the folder of a partition.
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory, syncFile } from '@ringwright/node/durable-files';
import type Database from 'better-sqlite3';
import { currentFile, currentText } from '../file/partition-directory.ts';
import { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo, PartitionState } from '../file/partition-info.ts';

/** What the file is to say of itself. */
export interface FileOwner {
  /** Also the name of the folder that holds the file. */
  readonly incarnation: string;
  readonly life: string;
  readonly state: PartitionState;
}

export interface OwnedFile {
  readonly info: PartitionInfo;
  /** The highest ms of any stamp in it. */
  readonly highestMs: number;
}

/** Nothing is synced: see `makeOwnedDurable`. */
export function ownFile(db: Database.Database, owner: FileOwner): OwnedFile {
  const file = new PartitionFile(db);
  file.takeOver({ ...owner, barrierMs: 0 });
  if (!file.checkpoint('TRUNCATE')) throw new Error(`${db.name} could not be checkpointed`);
  return { info: file.info(), highestMs: file.highestMs };
}

/**
 * For a file that is closed, in a staged folder. CURRENT beside its folder counts from when that
 * gets its name, so all is synced at once.
 */
export async function makeOwnedDurable(file: string, { incarnation }: FileOwner): Promise<void> {
  const directory = dirname(file);
  const home = dirname(directory);
  const current = currentFile(home);
  await writeFile(current, currentText(incarnation), { flag: 'wx', mode: 0o600 });
  await Promise.all([...[file, current].map(syncFile), ...[directory, home].map(syncDirectory)]);
}
