// Makes a partition file of packed records, in a process beside the store.
import { writeFileSync } from 'node:fs';
import { type FileOwner, makeOwnedDurable, type OwnedFile } from '../audit/own-file.ts';
import { fileBytes, newTables } from '../file/new-partition-file.ts';
import { PartitionFile } from '../file/partition-file.ts';
import { unpackRecords } from '../file/record-bytes.ts';
import type { TombstoneMarks } from '../file/tombstone-marks.ts';

/** Its marks are those of the file that the records are of. */
export interface FileToMake extends TombstoneMarks {
  /** In a folder that is there, and has none. */
  readonly file: string;
  /** Whose it is then, durably; null: nobody's, and it is not synced. */
  readonly owner: FileOwner | null;
  readonly keyspace: string;
  readonly partition: number;
  /** See packRecords. */
  readonly records: Uint8Array;
  /** Of that file, which has these records and no others. */
  readonly digest: string;
}

/** Who adopts such a file gives it names of his own. */
const nobody: FileOwner = { incarnation: 'packed', life: 'packed', state: 'filling' };

/**
 * `onWait` is told when only the disk is left. Null, and there is no file, when the records are not
 * those of the digest.
 */
export async function makeFile(work: FileToMake, onWait: () => void): Promise<OwnedFile | null> {
  const { file, owner, digest } = work;
  const made = bytesOfFile(work);
  if (made?.owned.info.digest !== digest) return null;
  writeFileSync(file, made.bytes, { flag: 'wx', mode: 0o600 });
  if (owner === null) return made.owned;
  onWait();
  await makeOwnedDurable(file, owner);
  return made.owned;
}

function bytesOfFile({ keyspace, partition, owner, barrierMs, floorMs, ...work }: FileToMake) {
  const records = unpackRecords(work.records);
  if (records === null) return null;
  const file = new PartitionFile(newTables({ keyspace, partition, ...(owner ?? nobody) }));
  try {
    file.apply(records);
    // Behind the records: a floor keeps out those that are older.
    if (barrierMs > 0) file.change({ state: null, barrierMs, floorMs });
    file.flush();
    const owned: OwnedFile = { info: file.info(), highestMs: file.highestMs };
    return { owned, bytes: fileBytes(file.db) };
  } finally {
    file.wal.discard();
  }
}
