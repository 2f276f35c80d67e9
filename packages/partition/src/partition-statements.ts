// The prepared statements of one open partition file.
import type Database from 'better-sqlite3';
import type { PendingRow } from './memtable.ts';
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
  expiresMs: number,
  originMs: number,
  originTie: number,
];
export type StampRow = [seq: number, key: Buffer, ms: number, tie: number];
type DeadRow = [seq: number, hash: Buffer, valueBytes: number | null];

const FULL =
  'SELECT seq, key, ms, tie, value, hash, expires_ms, origin_ms, origin_tie FROM records';

/** The record of a row, of which nothing has been checked. */
export function rowContent(row: FullRow) {
  const [, key, ms, tie, value, , expiresMs, originMs, originTie] = row;
  const origin = originMs === 0 && originTie === 0 ? null : { ms: originMs, tie: originTie };
  return { key, value, ms, tie, expiresMs, origin };
}

/**
 * Raw mode gives arrays, which cost less than objects. A statement is prepared at its first use: it
 * takes 5 KiB, and a device may have a thousand files open.
 */
export function partitionStatements(db: Database.Database) {
  const prepare = <Row>(sql: string): Database.Statement<unknown[], Row> =>
    db.prepare<unknown[], Row>(sql);
  return {
    find: once(() =>
      prepare<HeldRow>('SELECT seq, ms, tie, length(value), hash FROM records WHERE key = ?').raw(),
    ),
    // Most records neither expire nor have an origin, and each value bound costs 60 ns.
    insert: once(() =>
      prepare('INSERT INTO records (seq, key, ms, tie, value, hash) VALUES (?, ?, ?, ?, ?, ?)'),
    ),
    insertFull: once(() =>
      prepare(
        `INSERT INTO records (seq, key, ms, tie, value, hash, expires_ms, origin_ms, origin_tie)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    ),
    replace: once(() =>
      prepare(
        `UPDATE records SET seq = ?, ms = ?, tie = ?, value = ?, hash = ?, expires_ms = ?,
         origin_ms = ?, origin_tie = ? WHERE seq = ?`,
      ),
    ),
    setCounters: once(() =>
      prepare(
        `UPDATE meta SET seq = ?, rows = ?, tombstones = ?, bytes = ?, digest = ?, highest_ms = ?,
         checksum = ?`,
      ),
    ),
    setState: once(() => prepare('UPDATE meta SET state = ?, checksum = ?')),
    setIdentity: once(() =>
      prepare('UPDATE meta SET incarnation = ?, life = ?, state = ?, barrier_ms = ?, checksum = ?'),
    ),
    setFloors: once(() => prepare('UPDATE meta SET barrier_ms = ?, floor_ms = ?, checksum = ?')),
    oldTombstones: once(() =>
      prepare<DeadRow>(
        `SELECT seq, hash, length(value) FROM records WHERE seq > @after AND ms <= @floor AND
         (value IS NULL OR (expires_ms > 0 AND expires_ms <= @floor)) ORDER BY seq LIMIT @limit`,
      ).raw(),
    ),
    expired: once(() =>
      prepare<number>(
        `SELECT count(*) FROM records
         WHERE expires_ms > 0 AND expires_ms <= ? AND value IS NOT NULL`,
      ).pluck(),
    ),
    remove: once(() => prepare('DELETE FROM records WHERE seq = ?')),
    read: once(() => prepare<FullRow>(`${FULL} WHERE key = ?`).raw()),
    since: once(() => prepare<FullRow>(`${FULL} WHERE seq > ? ORDER BY seq LIMIT ?`).raw()),
    stampsSince: once(() =>
      prepare<StampRow>(
        'SELECT seq, key, ms, tie FROM records WHERE seq > ? ORDER BY seq LIMIT ?',
      ).raw(),
    ),
    afterKey: once(() => prepare<FullRow>(`${FULL} WHERE key > ? ORDER BY key LIMIT ?`).raw()),
  };
}

/** Inserts a row, or puts it in the place of the one it replaces. */
export function storeRow(
  sql: Pick<ReturnType<typeof partitionStatements>, 'insert' | 'insertFull' | 'replace'>,
  row: PendingRow,
): void {
  const { seq, key, ms, tie, value, hash, expiresMs, origin, replaces } = row;
  if (replaces === null && expiresMs === 0 && origin === null) {
    sql.insert().run(seq, key, ms, tie, value, hash);
    return;
  }
  const rest = [ms, tie, value, hash, expiresMs, origin?.ms ?? 0, origin?.tie ?? 0];
  if (replaces === null) sql.insertFull().run(seq, key, ...rest);
  else sql.replace().run(seq, ...rest, replaces);
}
