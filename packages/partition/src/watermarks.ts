// Which sequence each peer has confirmed, kept in the file whose numbers it speaks of.
import { CodedError } from '@ringwright/base/coded-error';
import { watermarkCountMax, watermarkPeerCharactersMax } from '@ringwright/base/limits';
import type Database from 'better-sqlite3';
import { once } from './once.ts';

/**
 * A lost or forgotten watermark only costs a resend, so these are not synced; a crash can only
 * lower them, because the WAL loses its newest transactions first.
 */
export class Watermarks {
  readonly #confirmed = new Map<string, number>();
  readonly #sql: ReturnType<typeof watermarkStatements>;

  constructor(db: Database.Database) {
    const rows = db
      .prepare<[], [string, number]>('SELECT peer, seq FROM watermarks ORDER BY id')
      .raw()
      .all();
    for (const [peer, seq] of rows) this.#confirmed.set(peer, seq);
    this.#sql = watermarkStatements(db);
  }

  get(peer: string): number {
    return this.#confirmed.get(peer) ?? 0;
  }

  /**
   * Raises a watermark; false when it was not lower. Throws VALUE_OUT_OF_RANGE above `fileSeq`.
   */
  confirm(peer: string, seq: number, fileSeq: number): boolean {
    if (!Number.isSafeInteger(seq) || seq < 0 || seq > fileSeq) {
      throw new CodedError('VALUE_OUT_OF_RANGE', `sequence ${seq} is not in 0 to ${fileSeq}`, {
        hint: 'a peer that confirms more than was ever written speaks of another incarnation',
        details: { seq, fileSeq },
      });
    }
    if (peer.length === 0 || peer.length > watermarkPeerCharactersMax) {
      throw new CodedError(
        'VALUE_OUT_OF_RANGE',
        `peer id of ${peer.length} characters, allowed are 1 to ${watermarkPeerCharactersMax}`,
      );
    }
    if (seq <= this.get(peer)) return false;
    this.#sql.set().run(peer, seq);
    this.#confirmed.set(peer, seq);
    if (this.#confirmed.size > watermarkCountMax) this.#forgetOldest();
    return true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#confirmed.keys();
    if (oldest === undefined) return;
    this.#sql.remove().run(oldest);
    this.#confirmed.delete(oldest);
  }

  clear(): void {
    this.#sql.clear().run();
    this.#confirmed.clear();
  }
}

function watermarkStatements(db: Database.Database) {
  return {
    set: once(() =>
      db.prepare(
        `INSERT INTO watermarks (peer, seq) VALUES (?, ?)
         ON CONFLICT (peer) DO UPDATE SET seq = excluded.seq`,
      ),
    ),
    remove: once(() => db.prepare('DELETE FROM watermarks WHERE peer = ?')),
    clear: once(() => db.prepare('DELETE FROM watermarks')),
  };
}
