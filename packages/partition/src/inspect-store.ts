// Looks into a data directory that no server runs on, and leaves every file of it as it is.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import Database from 'better-sqlite3';
import { lockDirectory } from './audit/directory-lock.ts';
import { dataPaths } from './file/data-paths.ts';
import { newestRecords } from './file/newest-records.ts';
import { listPartitionDirectories, readCurrent } from './file/partition-directory.ts';
import type { PartitionInfo } from './file/partition-info.ts';
import { infoOf, readMeta } from './file/partition-meta.ts';
import { PreparedStatements } from './file/prepared-statements.ts';
import { damageError, isDamage } from './file/sqlite-errors.ts';
import { tallyOf } from './file/tally.ts';
import { roomToStart } from './parts/room-to-start.ts';
import type { Store } from './store.ts';

/** As a store that runs shows it. */
export interface StoreView extends Pick<Store, 'list' | 'damaged' | 'newest'> {
  /** Of the log that the next start replays: writes that the files may not have yet. */
  readonly logBytes: number;
}

/** Held until `use` resolves: no server starts meanwhile. Throws DATA_DIR_IN_USE. */
export async function withStoreView<T>(
  root: string,
  use: (view: StoreView) => Promise<T> | T,
): Promise<T> {
  // A copy without the lock is not locked: that would write into it.
  const lock = existsSync(dataPaths.lock(root)) ? lockDirectory(root) : null;
  try {
    return await use(await viewOf(root));
  } finally {
    lock?.release();
  }
}

async function viewOf(root: string): Promise<StoreView> {
  const infos: PartitionInfo[] = [];
  const damaged: ReturnType<Store['damaged']> = [];
  for (const place of await listPartitionDirectories(root)) {
    const { keyspace, partition } = place;
    try {
      const meta = read(await fileOf(place.directory), readMeta);
      infos.push(infoOf(meta, tallyOf(meta)));
    } catch (error) {
      if (!isDamage(error)) throw error;
      damaged.push({ keyspace, partition, error: damageError(error, place) });
    }
  }
  const files = new Map<string, string>();
  for (const { keyspace, partition } of infos) {
    const directory = dataPaths.partition(root, keyspace, partition);
    files.set(`${keyspace}/${partition}`, await fileOf(directory));
  }
  return {
    list: () => infos,
    damaged: () => damaged,
    logBytes: (await roomToStart(root)).logBytes,
    newest: (keyspace, partition, limit) => {
      const file = files.get(`${keyspace}/${partition}`);
      if (file === undefined) throw absent(keyspace, partition);
      return read(file, (db) => newestRecords(new PreparedStatements(db), limit));
    },
  };
}

async function fileOf(directory: string): Promise<string> {
  const file = join(directory, await readCurrent(directory), 'data.db');
  if (existsSync(file)) return file;
  throw new CodedError('PARTITION_DAMAGED', `${file} is gone`);
}

/**
 * Read-only, with its WAL, if a crash has left one. For the shared memory that its readers need,
 * SQLite makes files, which nobody else needs while the directory is locked.
 */
function read<T>(file: string, use: (db: Database.Database) => T): T {
  const made = [`${file}-shm`, `${file}-wal`].filter((beside) => !existsSync(beside));
  const db = new Database(file, { readonly: true, timeout: 0 });
  try {
    db.pragma('trusted_schema = OFF');
    return use(db);
  } finally {
    db.close();
    for (const beside of made) rmSync(beside, { force: true });
  }
}

function absent(keyspace: string, partition: number): CodedError {
  return new CodedError('PARTITION_ABSENT', `no sound file of ${keyspace}/${partition} is here`, {
    details: { keyspace, partition },
  });
}
