// Gives a staged file, which was just audited, to this device: after it the folder around it needs
// nothing but its name to be the folder of a partition.
import { dirname } from 'node:path';
import { syncDirectory, syncFile, writeNewFile } from '@ringwright/node/durable-files';
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

/** For a file that is closed. CURRENT beside its folder names it when all else is on the disk. */
export async function makeOwnedDurable(file: string, { incarnation }: FileOwner): Promise<void> {
  const directory = dirname(file);
  const home = dirname(directory);
  await Promise.all([syncFile(file), syncDirectory(directory)]);
  await writeNewFile(currentFile(home), currentText(incarnation));
  await syncDirectory(home);
}
