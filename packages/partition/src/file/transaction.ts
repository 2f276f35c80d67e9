// Runs work on a partition file in one transaction, or without syncs.
import type Database from 'better-sqlite3';

/** Commits all of the work, or rolls it back if it throws. */
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

/** Runs work during which SQLite syncs nothing of the file. */
export function unsynced<Result>(db: Database.Database, work: () => Result): Result {
  db.exec('PRAGMA synchronous = OFF');
  try {
    return work();
  } finally {
    db.exec('PRAGMA synchronous = NORMAL');
  }
}
