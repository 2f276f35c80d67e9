// What was stored last in a partition file, without the values: for people who look at it.
import type Database from 'better-sqlite3';
import type { PreparedStatements } from './file/prepared-statements.ts';

export interface NewestRecord {
  readonly key: Uint8Array;
  /** Milliseconds since 1970 of its timestamp. */
  readonly ms: number;
  /** Null for a deletion. */
  readonly valueBytes: number | null;
  /** 0: never. */
  readonly expiresMs: number;
}

type NewestRow = [key: Buffer, ms: number, valueBytes: number | null, expiresMs: number];

const newest = (db: Database.Database) =>
  db
    .prepare<unknown[], NewestRow>(
      'SELECT key, ms, length(value), expires_ms FROM records ORDER BY seq DESC LIMIT ?',
    )
    .raw();

/** The last ones that were given a number here, the newest first. */
export function newestRecords(sql: Pick<PreparedStatements, 'of'>, limit: number): NewestRecord[] {
  const rows = sql.of(newest).all(limit);
  return rows.map(([key, ms, valueBytes, expiresMs]) => ({ key, ms, valueBytes, expiresMs }));
}
