// The records of one open file that expire.
import { statements } from './partition-statements.ts';
import type { PreparedStatements } from './prepared-statements.ts';
import type { RecordContent } from './record-bytes.ts';

/** Most files have none: then no statement is prepared to count them. */
export class Expiring {
  readonly #sql: PreparedStatements;
  /** There was one; it need not be there any more. */
  #some: boolean;

  constructor(sql: PreparedStatements) {
    this.#sql = sql;
    const first = sql.db.prepare('SELECT 1 FROM records WHERE expires_ms > 0 LIMIT 1').get();
    this.#some = first !== undefined;
  }

  /** A record is taken in. */
  note({ expiresMs }: RecordContent): void {
    if (expiresMs > 0) this.#some = true;
  }

  /** Of those in the file, how many with a value have expired by `nowMs`. */
  count(nowMs: number): number {
    return this.#some ? (this.#sql.of(statements.expired).get(nowMs) ?? 0) : 0;
  }
}
