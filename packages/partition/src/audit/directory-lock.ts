// Allows one process per data directory: an SQLite lock, which the kernel drops when the process
// ends in any way.
import { closeSync, openSync } from 'node:fs';
import { CodedError } from '@ringwright/base/coded-error';
import { codeOf } from '@ringwright/base/thrown';
import Database from 'better-sqlite3';
import { dataPaths } from '../file/data-paths.ts';
import { withFileName } from '../file/sqlite-errors.ts';

/** Released at the end of its `using` block, or earlier. */
export interface DirectoryLock extends Disposable {
  release(): void;
}

/**
 * Writes nothing, so it works on a full disk. Throws DATA_DIR_IN_USE when another store, of this or
 * another process, has the directory open.
 */
export function lockDirectory(root: string): DirectoryLock {
  const file = dataPaths.lock(root);
  makeLockFile(file);
  const db = openLock(file);
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    // SQLite would begin with the first page of an empty database, and write a journal for it.
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

function openLock(file: string): Database.Database {
  try {
    return new Database(file, { timeout: 0 });
  } catch (error) {
    throw withFileName(error, file);
  }
}

/**
 * Creates the lock file; whoever can open it can lock it. An existing file is not opened, because
 * closing it would release the lock.
 */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}
