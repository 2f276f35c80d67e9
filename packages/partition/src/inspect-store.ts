// Reads a data directory that no server is using, and leaves every file in it unchanged.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import Database from 'better-sqlite3';
import { lockDirectory } from './audit/directory-lock.ts';
import { dataPaths, type PartitionRef, partitionName } from './file/data-paths.ts';
import { readEmptyPartitions } from './file/empty-partitions.ts';
import { newPartitionInfo } from './file/new-partition-file.ts';
import { listPartitionDirectories, readCurrent } from './file/partition-directory.ts';
import type { PartitionInfo } from './file/partition-info.ts';
import { infoOf, readMeta } from './file/partition-meta.ts';
import { PreparedStatements } from './file/partition-statements.ts';
import { isUnfinished } from './file/read-partitions.ts';
import { damageError, isDamage } from './file/sqlite-errors.ts';
import { tallyOf } from './file/tally.ts';
import { newestRecords } from './newest-records.ts';
import { roomToStart } from './store/room-to-start.ts';
import type { Store } from './store.ts';

/** What a running store would show, and the size of its log. */
interface StoreView extends Pick<Store, 'list' | 'damaged' | 'newest'> {
  /** Bytes of the log that the next start replays: writes that the files may lack. */
  readonly logBytes: number;
}

/** Holds the directory lock until `use` resolves, so no server starts. Throws DATA_DIR_IN_USE. */
export async function withStoreView<T>(
  root: string,
  use: (view: StoreView) => Promise<T> | T,
): Promise<T> {
  // A copied directory without a lock file is not locked, because that would write into it.
  using _ = existsSync(dataPaths.lock(root)) ? lockDirectory(root) : null;
  return await use(await viewOf(root));
}

/**
 * Returns the partitions that have a folder, intact or not, or an entry as an empty partition.
 * Opens no file, so one that the disk cannot read does not hide the others. Throws DATA_DIR_IN_USE.
 */
export async function partitionsThere(root: string): Promise<PartitionRef[]> {
  using _ = existsSync(dataPaths.lock(root)) ? lockDirectory(root) : null;
  return [...(await listPartitionDirectories(root)), ...(await readEmptyPartitions(root)).all()];
}

async function viewOf(root: string): Promise<StoreView> {
  const infos: PartitionInfo[] = [];
  const damaged: ReturnType<Store['damaged']> = [];
  const files = new Map<string, string>();
  const empties = await readEmptyPartitions(root);
  const unfinished = new Map(empties.all().map((empty) => [partitionName(empty), empty]));
  for (const folder of await listPartitionDirectories(root)) {
    const { keyspace, partition } = folder;
    try {
      // The next start sees an unfinished partition as empty until it has replayed the log.
      if (await isUnfinished(folder, empties)) continue;
      unfinished.delete(partitionName(folder));
      const file = await fileOf(folder.directory);
      const meta = read(file, readMeta);
      infos.push(infoOf(meta, tallyOf(meta)));
      files.set(partitionName(folder), file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged.push({ keyspace, partition, error: damageError(error, folder) });
    }
  }
  for (const empty of unfinished.values()) {
    infos.push(newPartitionInfo({ ...empty, incarnation: empty.life }));
  }
  return {
    list: () => infos,
    damaged: () => damaged,
    logBytes: (await roomToStart(root)).logBytes,
    newest: (keyspace, partition, limit) => {
      const name = partitionName({ keyspace, partition });
      const file = files.get(name);
      if (file !== undefined)
        return read(file, (db) => newestRecords(new PreparedStatements(db), limit));
      if (unfinished.has(name)) return [];
      throw absent(keyspace, partition);
    },
  };
}

async function fileOf(directory: string): Promise<string> {
  const file = join(directory, await readCurrent(directory), 'data.db');
  if (existsSync(file)) return file;
  throw new CodedError('PARTITION_DAMAGED', `${file} is gone`);
}

/**
 * Opens the file read-only, with its WAL if a crash has left one. SQLite creates files for the
 * readers' shared memory; they are removed afterwards, since the directory is locked and nobody
 * else needs them.
 */
function read<T>(file: string, use: (db: Database.Database) => T): T {
  const newFiles = [`${file}-shm`, `${file}-wal`].filter((beside) => !existsSync(beside));
  using cleanup = new DisposableStack();
  for (const beside of newFiles) cleanup.defer(() => rmSync(beside, { force: true }));
  const db = cleanup.adopt(new Database(file, { readonly: true, timeout: 0 }), (one) =>
    one.close(),
  );
  db.pragma('trusted_schema = OFF');
  return use(db);
}

function absent(keyspace: string, partition: number): CodedError {
  return new CodedError(
    'PARTITION_ABSENT',
    `this device has no intact file of ${keyspace}/${partition}`,
    {
      details: { keyspace, partition },
    },
  );
}
