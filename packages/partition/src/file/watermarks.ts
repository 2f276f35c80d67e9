// The sequence that each peer has confirmed, stored in the file whose sequences it refers to.
import { CodedError } from '@ringwright/base/coded-error';
import { watermarkCountMax, watermarkPeerCharactersMax } from '@ringwright/base/limits-store';
import type Database from 'better-sqlite3';
import type { PreparedStatements } from './partition-statements.ts';

/**
 * Stored with the next flush of the file's rows. So in the file no watermark is ahead of the rows,
 * and confirming needs no transaction. A lost watermark only costs a resend.
 */
export class Watermarks {
  readonly #confirmed = new Map<string, number>();
  /** Peers whose watermarks in the file are out of date. */
  readonly #unstored = new Set<string>();
  readonly #sql: PreparedStatements;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
    if (sql.areUnmade) return;
    for (const [peer, seq] of statements.all(sql.db).all()) this.#confirmed.set(peer, seq);
  }

  get(peer: string): number {
    return this.#confirmed.get(peer) ?? 0;
  }

  get haveChanged(): boolean {
    return this.#unstored.size > 0;
  }

  /** Raises a watermark, never lowers it. Throws VALUE_OUT_OF_RANGE above `fileSeq`. */
  confirm(peer: string, seq: number, fileSeq: number): void {
    if (!Number.isSafeInteger(seq) || seq < 0 || seq > fileSeq) {
      throw new CodedError('VALUE_OUT_OF_RANGE', `sequence ${seq} is not in 0 to ${fileSeq}`, {
        hint: 'a peer that confirms more than was ever written has another incarnation',
        details: { seq, fileSeq },
      });
    }
    if (peer.length === 0 || peer.length > watermarkPeerCharactersMax) {
      throw new CodedError(
        'VALUE_OUT_OF_RANGE',
        `peer id of ${peer.length} characters, allowed are 1 to ${watermarkPeerCharactersMax}`,
      );
    }
    if (seq <= this.get(peer)) return;
    this.#confirmed.set(peer, seq);
    this.#unstored.add(peer);
    if (this.#confirmed.size > watermarkCountMax) this.#forgetOldest();
  }

  /** Stores the changes within the caller's transaction. Returns the number of rows changed. */
  flush(): number {
    const rows = this.#unstored.size;
    for (const peer of this.#unstored) {
      const seq = this.#confirmed.get(peer);
      if (seq === undefined) this.#sql.of(statements.remove).run(peer);
      else this.#sql.of(statements.set).run(peer, seq);
    }
    this.#unstored.clear();
    return rows;
  }

  #forgetOldest(): void {
    const [oldest] = this.#confirmed.keys();
    if (oldest === undefined) return;
    this.#confirmed.delete(oldest);
    this.#unstored.add(oldest);
  }

  clear(): void {
    this.#sql.of(statements.clear).run();
    this.#confirmed.clear();
    this.#unstored.clear();
  }
}

const statements = {
  all: (db: Database.Database) =>
    db.prepare<unknown[], [string, number]>('SELECT peer, seq FROM watermarks ORDER BY id').raw(),
  set: (db: Database.Database) =>
    db.prepare(
      `INSERT INTO watermarks (peer, seq) VALUES (?, ?)
       ON CONFLICT (peer) DO UPDATE SET seq = excluded.seq`,
    ),
  remove: (db: Database.Database) => db.prepare('DELETE FROM watermarks WHERE peer = ?'),
  clear: (db: Database.Database) => db.prepare('DELETE FROM watermarks'),
};
