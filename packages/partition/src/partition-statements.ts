// The prepared statements of one open partition file.
import type Database from 'better-sqlite3';
import type { Memtable, PendingRow } from './memtable.ts';
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

/** Of a long memtable so many rows go with one call; the statement takes 20 KiB. */
const ROWS_OF_INSERT_MANY = 16;
const ROWS_FOR_INSERT_MANY = 2_048;

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
    insertMany: once(() =>
      prepare(
        `INSERT INTO records (seq, key, ms, tie, value, hash)
         VALUES ${Array(ROWS_OF_INSERT_MANY).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
      ),
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

type StoreStatements = Pick<
  ReturnType<typeof partitionStatements>,
  'insert' | 'insertMany' | 'insertFull' | 'replace'
>;

/** Inserts rows, or puts them in the place of those that they replace; the bytes of their values. */
export function storeRows(sql: StoreStatements, rows: Memtable): number {
  let valueBytes = 0;
  const isLong = rows.size >= ROWS_FOR_INSERT_MANY;
  let many: unknown[] = [];
  for (const row of rows.values()) {
    const { seq, key, ms, tie, value, hash } = row;
    valueBytes += value?.length ?? 0;
    if (!isPlain(row)) storeUnusual(sql, row);
    else if (!isLong) sql.insert().run(seq, key, ms, tie, value, hash);
    else {
      many.push(seq, key, ms, tie, value, hash);
      if (many.length < 6 * ROWS_OF_INSERT_MANY) continue;
      sql.insertMany().run(many);
      many = [];
    }
  }
  for (let at = 0; at < many.length; at += 6) sql.insert().run(many.slice(at, at + 6));
  return valueBytes;
}

/** A new record that does not expire and has no origin. */
function isPlain({ replaces, expiresMs, origin }: PendingRow): boolean {
  return replaces === null && expiresMs === 0 && origin === null;
}

function storeUnusual(sql: StoreStatements, row: PendingRow): void {
  const { seq, key, ms, tie, value, hash, expiresMs, origin, replaces } = row;
  const rest = [ms, tie, value, hash, expiresMs, origin?.ms ?? 0, origin?.tie ?? 0];
  if (replaces === null) sql.insertFull().run(seq, key, ...rest);
  else sql.replace().run(seq, ...rest, replaces);
}
