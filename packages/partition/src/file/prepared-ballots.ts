// The promises of a partition, by key. A record of the key stamped below its promise is refused.
import { byteText } from '@ringwright/base/as-buffer';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import type { HashedRecord } from './memtable.ts';
import type { PreparedStatements } from './partition-statements.ts';
import type { PreparedBallot } from './record.ts';

/**
 * A promise is kept until a record catches up with it. So there are few, and all are in memory.
 * They are neither in the digest nor in the sequence: a promise belongs to one device.
 */
export class PreparedBallots {
  readonly #ballots = new Map<string, PreparedBallot>();
  readonly #changed = new Set<string>();
  readonly #sql: PreparedStatements;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
    if (sql.areUnmade) return;
    const rows = sql.db
      .prepare<[], [Buffer, number, number]>('SELECT key, ms, tie FROM promises')
      .raw();
    for (const [key, ms, tie] of rows.iterate()) this.#ballots.set(byteText(key), { key, ms, tie });
  }

  all(): PreparedBallot[] {
    return [...this.#ballots.values()];
  }

  /** Whether there is something to store. */
  get haveChanged(): boolean {
    return this.#changed.size > 0;
  }

  /**
   * Returns the promise that keeps a row out, or null. A row that passes either is a promise
   * itself, or is at least as new as the key's promise, which then ends.
   */
  pass({ key, ms, tie, isPreparedBallot }: HashedRecord): Stamp | null {
    if (this.#ballots.size === 0 && !isPreparedBallot) return null;
    const name = byteText(key);
    const ballot = this.#ballots.get(name);
    if (ballot !== undefined && compareStamps(ballot, { ms, tie }) > 0) return ballot;
    if (isPreparedBallot) this.#ballots.set(name, { key: Buffer.from(key), ms, tie });
    else this.#ballots.delete(name);
    if (isPreparedBallot || ballot !== undefined) this.#changed.add(name);
    return null;
  }

  /** Removes and returns all promises; the caller makes them again later. */
  takeAll(): PreparedBallot[] {
    const ballots = this.all();
    for (const name of this.#ballots.keys()) this.#changed.add(name);
    this.#ballots.clear();
    return ballots;
  }

  /**
   * Ends the promises up to a floor, which keeps out the same records. Promises of rounds that
   * never ended would otherwise stay forever if nobody writes their keys again.
   */
  endUpTo(floorMs: number): void {
    for (const [name, { ms }] of this.#ballots) {
      if (ms > floorMs) continue;
      this.#ballots.delete(name);
      this.#changed.add(name);
    }
  }

  /** Stores the changes within the caller's transaction. Returns the number of rows changed. */
  flush(): number {
    const rows = this.#changed.size;
    if (rows === 0) return 0;
    const remove = this.#sql.db.prepare('DELETE FROM promises WHERE key = ?');
    const set = this.#sql.db.prepare(
      `INSERT INTO promises (key, ms, tie) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET ms = excluded.ms, tie = excluded.tie`,
    );
    for (const name of this.#changed) {
      const ballot = this.#ballots.get(name);
      if (ballot === undefined) remove.run(Buffer.from(name, 'latin1'));
      else set.run(ballot.key, ballot.ms, ballot.tie);
    }
    this.#changed.clear();
    return rows;
  }
}
