// The prepared statements of one open partition file.
import type Database from 'better-sqlite3';
import { once } from './once.ts';

/** seq, ms, tie, value length or null for a tombstone, hash. */
type HeldRow = [seq: number, ms: number, tie: number, valueBytes: number | null, hash: Buffer];
export type FullRow = [
  seq: number,
  key: Buffer,
  ms: number,
  tie: number,
  value: Buffer | null,
  hash: Buffer,
];
export type StampRow = [seq: number, key: Buffer, ms: number, tie: number];
type TombstoneRow = [seq: number, hash: Buffer];
type CheckpointRow = [busy: number, log: number, checkpointed: number];

const FULL = 'SELECT seq, key, ms, tie, value, hash FROM records';

/**
 * Raw mode gives arrays, which cost less than objects. What not every file needs is prepared at its
 * first use: a statement takes 5 KiB, and a device may have a thousand files open.
 */
export function partitionStatements(db: Database.Database) {
  const prepare = <Row>(sql: string): Database.Statement<unknown[], Row> =>
    db.prepare<unknown[], Row>(sql);
  const checkpoint = (mode: string) =>
    once(() => prepare<CheckpointRow>(`PRAGMA wal_checkpoint(${mode})`).raw());
  return {
    begin: prepare('BEGIN IMMEDIATE'),
    commit: prepare('COMMIT'),
    rollback: once(() => prepare('ROLLBACK')),
    find: prepare<HeldRow>(
      'SELECT seq, ms, tie, length(value), hash FROM records WHERE key = ?',
    ).raw(),
    insert: prepare(
      'INSERT INTO records (seq, key, ms, tie, value, hash) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    replace: prepare(
      'UPDATE records SET seq = ?, ms = ?, tie = ?, value = ?, hash = ? WHERE seq = ?',
    ),
    setCounters: prepare(
      `UPDATE meta SET seq = ?, rows = ?, tombstones = ?, bytes = ?, digest = ?, highest_ms = ?,
       checksum = ?`,
    ),
    setState: once(() => prepare('UPDATE meta SET state = ?, checksum = ?')),
    setIdentity: once(() =>
      prepare('UPDATE meta SET incarnation = ?, life = ?, state = ?, barrier_ms = ?, checksum = ?'),
    ),
    setFloors: once(() => prepare('UPDATE meta SET barrier_ms = ?, floor_ms = ?, checksum = ?')),
    oldTombstones: once(() =>
      prepare<TombstoneRow>(
        'SELECT seq, hash FROM records WHERE seq > ? AND value IS NULL AND ms <= ? ORDER BY seq LIMIT ?',
      ).raw(),
    ),
    remove: once(() => prepare('DELETE FROM records WHERE seq = ?')),
    read: prepare<FullRow>(`${FULL} WHERE key = ?`).raw(),
    since: once(() => prepare<FullRow>(`${FULL} WHERE seq > ? ORDER BY seq LIMIT ?`).raw()),
    stampsSince: once(() =>
      prepare<StampRow>(
        'SELECT seq, key, ms, tie FROM records WHERE seq > ? ORDER BY seq LIMIT ?',
      ).raw(),
    ),
    afterKey: once(() => prepare<FullRow>(`${FULL} WHERE key > ? ORDER BY key LIMIT ?`).raw()),
    checkpoint: {
      PASSIVE: checkpoint('PASSIVE'),
      TRUNCATE: checkpoint('TRUNCATE'),
      NOOP: checkpoint('NOOP'),
    },
  };
}
