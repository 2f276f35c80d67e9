// Work on a partition file in one transaction.
import type Database from 'better-sqlite3';
import type { partitionStatements } from './partition-statements.ts';

/** All of it is stored, or nothing when it throws. */
export function inTransaction(
  db: Database.Database,
  sql: Pick<ReturnType<typeof partitionStatements>, 'begin' | 'commit' | 'rollback'>,
  work: () => void,
): void {
  sql.begin.run();
  try {
    work();
    // failpoint: file.before-commit
    sql.commit.run();
  } catch (error) {
    if (db.inTransaction) sql.rollback().run();
    throw error;
  }
}

/** Many lookups cost less in one transaction than in one each. */
export function inReadTransaction<Result>(db: Database.Database, work: () => Result): Result {
  db.exec('BEGIN');
  try {
    return work();
  } finally {
    if (db.inTransaction) db.exec('COMMIT');
  }
}
