// The tables of one open file, and its prepared statements, each made at its first use.
import type Database from 'better-sqlite3';

type Prepare<Row> = (db: Database.Database) => Database.Statement<unknown[], Row>;

/**
 * One takes 5 KiB, and a device may have a thousand files open. They are found by the function that
 * makes them, which all files share: a closure of each for each file took 4 KiB more.
 */
export class PreparedStatements {
  readonly #make: () => Database.Database;
  #db: Database.Database | null;
  readonly #prepared = new Map<Prepare<unknown>, Database.Statement<unknown[], unknown>>();

  /** Those of a partition in memory are made when something is stored in them. */
  constructor(tables: Database.Database | (() => Database.Database)) {
    this.#make = typeof tables === 'function' ? tables : () => tables;
    this.#db = typeof tables === 'function' ? null : tables;
  }

  get db(): Database.Database {
    this.#db ??= this.#make();
    return this.#db;
  }

  /** Nothing was ever stored in them. */
  get areUnmade(): boolean {
    return this.#db === null;
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
