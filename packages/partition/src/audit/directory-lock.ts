// One process per data directory: an SQLite lock that the kernel drops when the process ends,
// however it ends.
import { closeSync, openSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf } from '@ringwright/base/thrown';
import Database from 'better-sqlite3';
import { dataPaths } from '../file/data-paths.ts';

/** Released with the block that is `using` it, or before. */
export interface DirectoryLock extends Disposable {
  release(): void;
}

/**
 * Writes nothing, so that a full disk can be locked. Throws DATA_DIR_IN_USE when another store, of
 * this or another process, has the directory open.
 */
export function lockDirectory(root: string): DirectoryLock {
  makeLockFile(dataPaths.lock(root));
  const db = new Database(dataPaths.lock(root), { timeout: 0 });
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    // SQLite begins with the first page of an empty database, and would write a journal for it.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (codeOf(error) !== 'SQLITE_BUSY') throw error;
    throw new CodedError('DATA_DIR_IN_USE', `data directory ${root} is open in another process`, {
      hint: 'stop the other server, or give this one a directory of its own',
      details: { directory: root },
    });
  }
  const release = (): void => void db.close();
  return { release, [Symbol.dispose]: release };
}

/** Whoever can open it can lock it. One that is there is not opened: closing it would unlock it. */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
