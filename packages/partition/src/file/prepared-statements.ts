// The tables of one open file, and its prepared statements, each prepared at first use.
import type Database from 'better-sqlite3';

type Prepare<Row> = (db: Database.Database) => Database.Statement<unknown[], Row>;

/**
 * A statement takes 5 KiB, and a device may have a thousand files open. Statements are found by the
 * function that prepares them, which all files share: a closure per file and statement took 4 KiB
 * more.
 */
export class PreparedStatements {
  readonly #make: () => Database.Database;
  #db: Database.Database | null;
  readonly #prepared = new Map<Prepare<unknown>, Database.Statement<unknown[], unknown>>();

  /** A function creates the tables of a partition in memory when something is stored in them. */
  constructor(tables: Database.Database | (() => Database.Database)) {
    this.#make = typeof tables === 'function' ? tables : () => tables;
    this.#db = typeof tables === 'function' ? null : tables;
  }

  get db(): Database.Database {
    this.#db ??= this.#make();
    return this.#db;
  }

  /** Whether nothing was ever stored in the tables. */
  get areUnmade(): boolean {
    return this.#db === null;
  }

  of<Row>(prepare: Prepare<Row>): Database.Statement<unknown[], Row> {
    const known = this.#prepared.get(prepare);
    // Each function maps to the statement that it prepared.
    if (known !== undefined) return known as Database.Statement<unknown[], Row>;
    const made = prepare(this.db);
    this.#prepared.set(prepare, made);
    return made;
  }
}
