// The tables of a partition file, and the numbers that identify such a file. Pure.
import { crc32 } from 'node:zlib';

/** "RWPF" in the SQLite header: a file of another program is refused, not misread. */
export const applicationId = 0x52575046;
/** File format since release 0.1.0. */
export const schemaVersion = 3;
/** SQLite's default: 1 and 2 KiB showed no gain beyond the noise: tools/bench/RESULTS.md. */
export const pageBytes = 4_096;

/** Exactly the text that sqlite_schema must contain; compared whenever a file is opened. */
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
    'barrier_ms INTEGER NOT NULL',
    'floor_ms INTEGER NOT NULL',
    'checksum INTEGER NOT NULL',
  ]),
  table('promises', [
    'id INTEGER PRIMARY KEY',
    'key BLOB NOT NULL UNIQUE',
    'ms INTEGER NOT NULL',
    'tie INTEGER NOT NULL',
  ]),
  table('records', [
    'seq INTEGER PRIMARY KEY',
    'key BLOB NOT NULL UNIQUE',
    'ms INTEGER NOT NULL',
    'tie INTEGER NOT NULL',
    'value BLOB',
    'hash BLOB NOT NULL',
    // Defaults of 0: the record never expires, and its origin is its own stamp.
    'expires_ms INTEGER NOT NULL DEFAULT 0',
    'origin_ms INTEGER NOT NULL DEFAULT 0',
    'origin_tie INTEGER NOT NULL DEFAULT 0',
  ]),
  // Only records that expire have an entry.
  'CREATE INDEX records_expiring ON records (expires_ms) WHERE expires_ms > 0',
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
  /** This device has promised to accept no new record stamped at or below it from a coordinator. */
  readonly barrier_ms: number;
  /** Every key that is not here counts as deleted at this ms; 0 if no tombstone was dropped yet. */
  readonly floor_ms: number;
  /**
   * CRC32 over all fields above: a flipped `life` would lose log frames, a flipped `seq` would
   * reuse sequences.
   */
  readonly checksum: number;
}

export function withChecksum(meta: Omit<MetaRow, 'checksum'>): MetaRow {
  return { ...meta, checksum: metaChecksum(meta) };
}

/** The checksum that belongs to these fields. */
export function metaChecksum(meta: Omit<MetaRow, 'checksum'>): number {
  const { keyspace, partition, incarnation, life, state } = meta;
  const { seq, rows, tombstones, bytes, digest, highest_ms, barrier_ms, floor_ms } = meta;
  const identity = [keyspace, partition, incarnation, life, state];
  const counters = [seq, rows, tombstones, bytes, digest, highest_ms, barrier_ms, floor_ms];
  return crc32([...identity, ...counters].join('/'));
}

function table(name: string, columns: readonly string[]): string {
  return `CREATE TABLE ${name} (${columns.join(', ')}) STRICT`;
}
