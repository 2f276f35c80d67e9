// Work on a partition file in one transaction, or without syncs.
import type Database from 'better-sqlite3';

/** All of it is stored, or nothing when it throws. */
export function inTransaction(db: Database.Database, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    // failpoint: file.before-commit
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Many lookups cost less in one transaction than in one each. */
export function inReadTransaction<Result>(db: Database.Database, work: () => Result): Result {
  db.exec('BEGIN');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Work on a file for which SQLite syncs nothing. */
export function unsynced<Result>(db: Database.Database, work: () => Result): Result {
  db.exec('PRAGMA synchronous = OFF');
  try {
    return work();
  } finally {
    db.exec('PRAGMA synchronous = NORMAL');
  }
}
