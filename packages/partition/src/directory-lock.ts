// One process per data directory: an SQLite lock that the kernel drops when the process ends,
// however it ends.
import { CodedError } from '@ringwright/base/coded-error';
import Database from 'better-sqlite3';
import { dataPaths } from './data-paths.ts';

export interface DirectoryLock {
  release(): void;
}

/**
 * Throws DATA_DIR_IN_USE when another store, of this or another process, has the directory open.
 */
export function lockDirectory(root: string): DirectoryLock {
  const db = new Database(dataPaths.lock(root), { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (!(error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY')) throw error;
    throw new CodedError('DATA_DIR_IN_USE', `data directory ${root} is open in another process`, {
      hint: 'stop the other server, or give this one a directory of its own',
      details: { directory: root },
    });
  }
  return { release: () => db.close() };
}
