// The bytes of an empty partition file, built in memory: creating one costs a single file sync.
import Database from 'better-sqlite3';
import { emptyDigest, formatDigest } from './digest.ts';
import type { PartitionState } from './partition-info.ts';
import {
  applicationId,
  metaChecksum,
  pageBytes,
  schemaStatements,
  schemaVersion,
} from './schema.ts';

export interface NewPartition {
  readonly keyspace: string;
  readonly partition: number;
  readonly incarnation: string;
  readonly life: string;
  readonly state: PartitionState;
}

/** Offsets of the file format's read and write version; 2 means WAL (sqlite.org/fileformat2). */
const VERSION_OFFSETS = [18, 19];

export function newPartitionBytes(options: NewPartition): Buffer {
  const { keyspace, partition, incarnation, life, state } = options;
  const db = new Database(':memory:');
  try {
    db.pragma(`page_size = ${pageBytes}`);
    db.pragma(`application_id = ${applicationId}`);
    db.pragma(`user_version = ${schemaVersion}`);
    for (const statement of schemaStatements) db.exec(statement);
    const counters = { seq: 0, rows: 0, tombstones: 0, bytes: 0 };
    const digest = formatDigest(emptyDigest);
    const meta = {
      keyspace,
      partition,
      incarnation,
      life,
      state,
      ...counters,
      digest,
      highest_ms: 0,
      barrier_ms: 0,
      floor_ms: 0,
    };
    db.prepare('INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, 0, 0, 0, 0, ?, 0, 0, 0, ?)').run(
      keyspace,
      partition,
      incarnation,
      life,
      state,
      digest,
      metaChecksum(meta),
    );
    const bytes = db.serialize();
    for (const offset of VERSION_OFFSETS) bytes[offset] = 2;
    return bytes;
  } finally {
    db.close();
  }
}
