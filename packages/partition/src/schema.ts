// The tables of a partition file, and the numbers by which such a file is known. Pure.
import { crc32 } from 'node:zlib';

/** "RWPF" in the SQLite header: a file of another program is refused, not misread. */
export const applicationId = 0x52575046;
export const schemaVersion = 1;
/** SQLite's default: 1 and 2 KiB showed no gain here that outlasts the noise, see DESIGN.md. */
export const pageBytes = 4_096;

/** Exactly the text that sqlite_schema must hold; compared when a copy is received. */
export const schemaStatements = [
  table('meta', [
    'id INTEGER PRIMARY KEY CHECK (id = 1)',
    'keyspace TEXT NOT NULL',
    'partition INTEGER NOT NULL',
    'incarnation TEXT NOT NULL',
    'life TEXT NOT NULL',
    'state TEXT NOT NULL',
    'seq INTEGER NOT NULL',
    'rows INTEGER NOT NULL',
    'tombstones INTEGER NOT NULL',
    'bytes INTEGER NOT NULL',
    'digest TEXT NOT NULL',
    'highest_ms INTEGER NOT NULL',
    'checksum INTEGER NOT NULL',
  ]),
  table('records', [
    'seq INTEGER PRIMARY KEY',
    'key BLOB NOT NULL UNIQUE',
    'ms INTEGER NOT NULL',
    'tie INTEGER NOT NULL',
    'value BLOB',
    'hash BLOB NOT NULL',
  ]),
  table('watermarks', [
    'id INTEGER PRIMARY KEY',
    'peer TEXT NOT NULL UNIQUE',
    'seq INTEGER NOT NULL',
  ]),
];

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
  /**
   * CRC32 over all fields above: a flipped `life` would lose log frames, a flipped `seq` reuse
   * numbers.
   */
  readonly checksum: number;
}

/** The checksum that belongs to these fields. */
export function metaChecksum(meta: Omit<MetaRow, 'checksum'>): number {
  const { keyspace, partition, incarnation, life, state } = meta;
  const { seq, rows, tombstones, bytes, digest, highest_ms } = meta;
  const identity = `${keyspace}/${partition}/${incarnation}/${life}/${state}`;
  return crc32(`${identity}/${seq}/${rows}/${tombstones}/${bytes}/${digest}/${highest_ms}`);
}

function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE ${name} (${columns.join(', ')}) STRICT`;
}
