// An empty partition: the bytes of its file, built in memory, and its info.

import { once } from '@ringwright/base/once';
import Database from 'better-sqlite3';
import type { PartitionRef } from './data-paths.ts';
import { emptyDigest, formatDigest } from './digest.ts';
import type { PartitionInfo, PartitionState } from './partition-info.ts';
import {
  applicationId,
  type MetaRow,
  pageBytes,
  schemaStatements,
  schemaVersion,
  withChecksum,
} from './schema.ts';

export interface NewPartition extends PartitionRef {
  readonly incarnation: string;
  readonly life: string;
  readonly state: PartitionState;
}

/** The file format's write and read version; 2 means WAL (sqlite.org/fileformat2). */
export const walVersion = { offset: 18, bytes: Buffer.of(2, 2) };

const nothing = { seq: 0, rows: 0, tombstones: 0, bytes: 0, digest: formatDigest(emptyDigest) };

/** The info that a new file contains. */
export function newPartitionInfo(options: NewPartition): PartitionInfo {
  const { keyspace, partition, incarnation, state } = options;
  return { keyspace, partition, incarnation, state, barrierMs: 0, floorMs: 0, ...nothing };
}

/** A file without its meta row: creating the tables takes four times as long as copying them. */
const emptyTables = once((): Buffer => {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(new Database(':memory:'), (one) => one.close());
  db.pragma(`page_size = ${pageBytes}`);
  db.pragma(`application_id = ${applicationId}`);
  db.pragma(`user_version = ${schemaVersion}`);
  for (const statement of schemaStatements) db.exec(statement);
  return db.serialize();
});

/** The meta row of a new partition, and its tables, which are not created yet. */
export interface NewTables {
  readonly meta: MetaRow;
  /** Creates the tables in memory; the caller closes the database. */
  readonly make: () => Database.Database;
}

export function newTables(options: NewPartition): NewTables {
  const { keyspace, partition, incarnation, life, state } = options;
  const identity = { keyspace, partition, incarnation, life, state };
  const stamps = { highest_ms: 0, barrier_ms: 0, floor_ms: 0 };
  const meta = withChecksum({ ...identity, ...nothing, ...stamps });
  return { meta, make: () => tablesOf(meta) };
}

function tablesOf(meta: MetaRow): Database.Database {
  const { keyspace, partition, incarnation, life, state, digest, checksum } = meta;
  const db = new Database(emptyTables());
  db.prepare('INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, 0, 0, 0, ?)').run(
    ...[keyspace, partition, incarnation, life, state, digest, checksum],
  );
  return db;
}

export function newPartitionBytes(options: NewPartition): Buffer {
  using cleanup = new DisposableStack();
  const db = cleanup.adopt(newTables(options).make(), (one) => one.close());
  return fileBytes(db);
}

/** Returns the bytes that a database in memory has as a file. */
export function fileBytes(db: Database.Database): Buffer {
  const bytes = db.serialize();
  bytes.set(walVersion.bytes, walVersion.offset);
  return bytes;
}
