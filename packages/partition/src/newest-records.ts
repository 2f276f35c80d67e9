// The records that were stored last in a partition file, without their values, for display to
// people.
import type Database from 'better-sqlite3';
import type { PreparedStatements } from './file/partition-statements.ts';

export interface NewestRecord {
  readonly key: Uint8Array;
  /** Milliseconds since 1970, from the record's stamp. */
  readonly ms: number;
  /** Null for a tombstone. */
  readonly valueBytes: number | null;
  /** 0: never expires. */
  readonly expiresMs: number;
}

type NewestRow = [key: Buffer, ms: number, valueBytes: number | null, expiresMs: number];

const newest = (db: Database.Database) =>
  db
    .prepare<unknown[], NewestRow>(
      'SELECT key, ms, length(value), expires_ms FROM records ORDER BY seq DESC LIMIT ?',
    )
    .raw();

/** Returns the records with the highest sequences, newest first. */
export function newestRecords(sql: Pick<PreparedStatements, 'of'>, limit: number): NewestRecord[] {
  const rows = sql.of(newest).all(limit);
  return rows.map(([key, ms, valueBytes, expiresMs]) => ({ key, ms, valueBytes, expiresMs }));
}
