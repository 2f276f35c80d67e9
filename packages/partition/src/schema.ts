// The tables of a partition file, and the numbers by which such a file is known. Pure.
import { crc32 } from 'node:zlib';

/** "RWPF" in the SQLite header: a file of another program is refused, not misread. */
export const applicationId = 0x52575046;
export const schemaVersion = 1;
/** Measured beside 2 and 4 KiB: see DESIGN.md. Less WAL per write, at a price for values of 64 KiB. */
export const pageBytes = 1_024;

/** Exactly the text that sqlite_schema must hold; compared when a copy is received. */
export const schemaStatements = [
  'CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), keyspace TEXT NOT NULL, partition INTEGER NOT NULL, incarnation TEXT NOT NULL, life TEXT NOT NULL, state TEXT NOT NULL, seq INTEGER NOT NULL, rows INTEGER NOT NULL, tombstones INTEGER NOT NULL, bytes INTEGER NOT NULL, digest TEXT NOT NULL, highest_ms INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT',
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
  /** CRC32 over all fields above: a flipped `life` would lose log frames, a flipped `seq` reuse numbers. */
  readonly checksum: number;
}

/** The checksum that belongs to these fields. */
export function metaChecksum(meta: Omit<MetaRow, 'checksum'>): number {
  const { keyspace, partition, incarnation, life, state } = meta;
  const { seq, rows, tombstones, bytes, digest, highest_ms } = meta;
  return crc32(
    `${keyspace}/${partition}/${incarnation}/${life}/${state}/${seq}/${rows}/${tombstones}/${bytes}/${digest}/${highest_ms}`,
  );
}
