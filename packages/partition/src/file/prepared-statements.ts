// The prepared statements of one open file, each made at its first use.
import type Database from 'better-sqlite3';

type Prepare<Row> = (db: Database.Database) => Database.Statement<unknown[], Row>;

/**
 * One takes 5 KiB, and a device may have a thousand files open. They are found by the function that
 * makes them, which all files share: a closure of each for each file took 4 KiB more.
 */
export class PreparedStatements {
  readonly db: Database.Database;
  readonly #prepared = new Map<Prepare<unknown>, Database.Statement<unknown[], unknown>>();

  constructor(db: Database.Database) {
    this.db = db;
  }

  of<Row>(prepare: Prepare<Row>): Database.Statement<unknown[], Row> {
    const known = this.#prepared.get(prepare);
    // Only its own statement is kept by a function.
    if (known !== undefined) return known as Database.Statement<unknown[], Row>;
    const made = prepare(this.db);
    this.#prepared.set(prepare, made);
    return made;
  }
}
