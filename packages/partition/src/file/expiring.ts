// Whether an open file may have records that expire.
import type { PreparedStatements } from './prepared-statements.ts';
import type { RecordContent } from './record.ts';

/** Most files have none: then nothing has to be stored and no statement prepared to count them. */
export class Expiring {
  #any: boolean;

  constructor(sql: PreparedStatements) {
    const first = 'SELECT 1 FROM records WHERE expires_ms > 0 LIMIT 1';
    this.#any = !sql.areUnmade && sql.db.prepare(first).get() !== undefined;
  }

  /** There was one, stored or waiting to be; it need not be there any more. */
  get any(): boolean {
    return this.#any;
  }

  /** A record is taken in. */
  note({ expiresMs }: RecordContent): void {
    if (expiresMs > 0) this.#any = true;
  }
}
