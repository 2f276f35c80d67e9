// The write-ahead log of an open partition file: how long it is, and its way into the file.
import type Database from 'better-sqlite3';
import type { PreparedStatements } from './prepared-statements.ts';
import { pageBytes } from './schema.ts';

/** Of one transaction and of one row at the worst: a few pages each. */
const BYTES_PER_TRANSACTION = 8_192;
const BYTES_PER_ROW = 12_288;

/** Busy when not 0, then frames in the WAL, and how many of them are in the file. */
type CheckpointRow = [busy: number, log: number, checkpointed: number];

export class PartitionWal {
  /** How often the file itself may have been written: nothing but a checkpoint does that. */
  checkpoints = 0;
  /** An upper bound of the bytes in the WAL, made exact when it grows large. */
  #bytes = 0;
  readonly #sql: PreparedStatements;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
  }

  /** A transaction has changed so many rows. */
  noteTransaction(rows: number, valueBytes = 0): void {
    this.#bytes += BYTES_PER_TRANSACTION + rows * BYTES_PER_ROW + valueBytes;
  }

  /** Moves it into the file and syncs both; false when something kept it from finishing. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): boolean {
    this.checkpoints += 1;
    const [busy, log, done] = this.#run(mode);
    const complete = busy === 0 && log === done;
    if (complete) this.#bytes = 0;
    return complete;
  }

  /** Whether it holds more than `bytesMax` that no checkpoint has moved yet. */
  exceeds(bytesMax: number): boolean {
    if (this.#bytes <= bytesMax) return false;
    const [, log, done] = this.#run('NOOP');
    this.#bytes = log === done ? 0 : log * pageBytes;
    return this.#bytes * 2 > bytesMax;
  }

  #run(mode: keyof typeof checkpoints): CheckpointRow {
    return this.#sql.of(checkpoints[mode]).get() ?? [1, 0, 0];
  }
}

const checkpointIn = (mode: string) => (db: Database.Database) =>
  db.prepare<unknown[], CheckpointRow>(`PRAGMA wal_checkpoint(${mode})`).raw();

const checkpoints = {
  PASSIVE: checkpointIn('PASSIVE'),
  TRUNCATE: checkpointIn('TRUNCATE'),
  NOOP: checkpointIn('NOOP'),
};
