// The tables of a partition file, and the numbers by which such a file is known. Pure.

/** "RWPF" in the SQLite header: a file of another program is refused, not misread. */
export const applicationId = 0x52575046;
export const schemaVersion = 1;

/** Exactly the text that sqlite_schema must hold; compared when a copy is received. */
export const schemaStatements = [
  'CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), keyspace TEXT NOT NULL, partition INTEGER NOT NULL, incarnation TEXT NOT NULL, life TEXT NOT NULL, state TEXT NOT NULL, seq INTEGER NOT NULL, rows INTEGER NOT NULL, tombstones INTEGER NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL, highest_ms INTEGER NOT NULL) STRICT',
  'CREATE TABLE records (seq INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, ms INTEGER NOT NULL, tie INTEGER NOT NULL, value BLOB, hash BLOB NOT NULL) STRICT',
  'CREATE TABLE watermarks (id INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL) STRICT',
] as const;

/** The single row of `meta`. `life` lasts from create to drop, over all adopted copies. */
export interface MetaRow {
  readonly keyspace: string;
  readonly partition: number;
  readonly incarnation: string;
  readonly life: string;
  readonly state: string;
  readonly seq: number;
  readonly rows: number;
  readonly tombstones: number;
  readonly bytes: number;
  readonly digest: string;
  readonly highest_ms: number;
}
