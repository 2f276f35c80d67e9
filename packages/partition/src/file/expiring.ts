// Whether an open file may contain records that expire.

import type { PreparedStatements } from './partition-statements.ts';
import type { RecordContent } from './record.ts';

/** Most files have none. They then need no flush and no statement to count expired records. */
export class Expiring {
  #any: boolean;

  constructor(sql: PreparedStatements) {
    const first = 'SELECT 1 FROM records WHERE expires_ms > 0 LIMIT 1';
    this.#any = !sql.areUnmade && sql.db.prepare(first).get() !== undefined;
  }

  /** True once the file has, or had, a record with an expiry, stored or pending. */
  get any(): boolean {
    return this.#any;
  }

  /** Called for each record that is applied. */
  note({ expiresMs }: RecordContent): void {
    if (expiresMs > 0) this.#any = true;
  }
}
