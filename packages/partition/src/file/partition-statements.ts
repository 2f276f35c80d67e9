// The statements over the tables of a partition file, each prepared at its first use.
import { assert, must } from '@ringwright/base/assert';
import type Database from 'better-sqlite3';
import type { Memtable, PendingRow } from './memtable.ts';
import type { MetaRow } from './schema.ts';

/** A row without its value; value length null: a tombstone. */
type HeldRow = [seq: number, ms: number, tie: number, valueBytes: number | null, hash: Buffer];
/** A row whose key, hash and value are one blob: each blob costs 0.7 us. */
export type JoinedRow = [
  seq: number,
  keyBytes: number,
  ms: number,
  tie: number,
  isDeletion: number,
  expiresMs: number,
  originMs: number,
  originTie: number,
  bytes: Buffer,
];
export type StampRow = [seq: number, key: Buffer, ms: number, tie: number];
/** A row without its value. */
type LastRow = [key: Buffer, ms: number, tie: number, valueBytes: number | null, hash: Buffer];
/** Sums over the rows of a page: count, bytes of keys and values, how many are gone, hashes. */
type SumRow = [
  count: number,
  bytes: number,
  gone: number,
  lowest: Buffer | null,
  highest: Buffer | null,
  hashes: Buffer | null,
];
/** Key, hash and value of all rows concatenated, and RowNumbers of each row as JSON. */
type TogetherRow = [bytes: Buffer, numbers: string];
export type RowNumbers = [
  seq: number,
  keyBytes: number,
  valueBytes: number | null,
  ms: number,
  tie: number,
  expiresMs: number,
  originMs: number,
  originTie: number,
];
type DeadRow = [seq: number, hash: Buffer, valueBytes: number | null];

type Db = Database.Database;

/** Rows per call when a long memtable is stored; the statement takes 20 KiB. */
const ROWS_OF_INSERT_MANY = 16;
const ROWS_FOR_INSERT_MANY = 2_048;

/** Values of the rows that oldRows returns at once. Removing 1 MiB takes 1 ms. */
const EXAMINED_BYTES_MAX = 8 * 1024 * 1024;

// `||` of blobs gives text with the same bytes, whatever they are.
const JOINED = `SELECT seq, length(key), ms, tie, value IS NULL, expires_ms, origin_ms, origin_tie,
  CAST(key || hash || coalesce(value, x'') AS BLOB) FROM records`;

const ROW_BYTES = 'octet_length(key) + coalesce(octet_length(value), 0)';
// Must agree with `isGone` of record.ts. Reading a column behind a long value takes as long as
// reading the value: a row with a longer value than asked for counts as there, without a hash.
// `value IS NULL` would read it too.
const SUMMED = `SELECT count(*), total(bytes), total(isGone), min(key), max(key),
  CAST(group_concat(hash, '') AS BLOB)`;
const SUMMANDS = `key, ${ROW_BYTES} AS bytes,
  CASE WHEN coalesce(octet_length(value), 0) <= ? THEN hash END AS hash,
  octet_length(value) IS NULL OR
    (octet_length(value) <= ? AND expires_ms > 0 AND expires_ms <= ?) AS isGone`;
// A flipped bit may change a type. The casts keep the JSON valid, and the hash shows the damage.
const TOGETHER = `SELECT CAST(group_concat(key || hash || coalesce(value, x''), '') AS BLOB),
  json_group_array(json_array(seq, octet_length(key), octet_length(value), CAST(ms AS INTEGER),
  CAST(tie AS INTEGER), CAST(expires_ms AS INTEGER), CAST(origin_ms AS INTEGER),
  CAST(origin_tie AS INTEGER)))`;
const IN_BOUNDS = 'FROM records WHERE key >= ? AND key < ?';
const UP = `${IN_BOUNDS} ORDER BY key LIMIT ?`;
const DOWN = `${IN_BOUNDS} ORDER BY key DESC LIMIT ?`;

// The index has only records for which the last condition is true. If it came first, SQLite would
// start at 0, and not behind the first parameter.
const EXPIRES_WITHIN = 'expires_ms > ? AND expires_ms <= ? AND expires_ms > 0';

/** Raw mode returns arrays, which cost less than objects. */
export const statements = {
  find: (db: Db) =>
    db
      .prepare<unknown[], HeldRow>(
        'SELECT seq, ms, tie, length(value), hash FROM records WHERE key = ?',
      )
      .raw(),
  stamp: (db: Db) =>
    db
      .prepare<unknown[], [ms: number, tie: number]>('SELECT ms, tie FROM records WHERE key = ?')
      .raw(),
  // Most records have neither expiry nor origin, and each bound value costs 60 ns.
  insert: (db: Db) =>
    db.prepare('INSERT INTO records (seq, key, ms, tie, value, hash) VALUES (?, ?, ?, ?, ?, ?)'),
  insertMany: (db: Db) =>
    db.prepare(
      `INSERT INTO records (seq, key, ms, tie, value, hash)
       VALUES ${Array(ROWS_OF_INSERT_MANY).fill('(?, ?, ?, ?, ?, ?)').join(', ')}`,
    ),
  insertFull: (db: Db) =>
    db.prepare(
      `INSERT INTO records (seq, key, ms, tie, value, hash, expires_ms, origin_ms, origin_tie)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
  replace: (db: Db) =>
    db.prepare(
      `UPDATE records SET seq = ?, ms = ?, tie = ?, value = ?, hash = ?, expires_ms = ?,
       origin_ms = ?, origin_tie = ? WHERE seq = ?`,
    ),
  setCounters: (db: Db) =>
    db.prepare(
      `UPDATE meta SET seq = ?, rows = ?, tombstones = ?, bytes = ?, digest = ?, highest_ms = ?,
       checksum = ?`,
    ),
  setMarks: (db: Db) =>
    db.prepare('UPDATE meta SET seq = -1, state = ?, barrier_ms = ?, floor_ms = ?'),
  setIdentity: (db: Db) =>
    db.prepare(
      'UPDATE meta SET incarnation = ?, life = ?, state = ?, barrier_ms = ?, checksum = ?',
    ),
  oldTombstones: (db: Db) =>
    db
      .prepare<unknown[], DeadRow>(
        `SELECT seq, hash, length(value) FROM records
         WHERE seq > @after AND seq <= @last AND ms <= @floor AND
         (value IS NULL OR (expires_ms > 0 AND expires_ms <= @floor))`,
      )
      .raw(),
  lastBehind: (db: Db) =>
    db
      .prepare<unknown[], [last: number | null, bytes: number]>(
        `SELECT max(seq), total(bytes)
         FROM (SELECT seq, length(value) AS bytes FROM records WHERE seq > ? ORDER BY seq LIMIT ?)`,
      )
      .raw(),
  expired: (db: Db) =>
    db
      .prepare<unknown[], number>(
        `SELECT count(*) FROM records
         WHERE ${EXPIRES_WITHIN} AND value IS NOT NULL`,
      )
      .pluck(),
  /** The expiry of the n-th record, in expiry order, that expires within an interval. */
  expiryAt: (db: Db) =>
    db
      .prepare<unknown[], number>(
        `SELECT expires_ms FROM records
         WHERE ${EXPIRES_WITHIN}
         ORDER BY expires_ms LIMIT 1 OFFSET ? - 1`,
      )
      .pluck(),
  /**
   * Counts values among the records behind a sequence that expire at the same time. Last sequence
   * null: there are no more.
   */
  expiredTogether: (db: Db) =>
    db
      .prepare<unknown[], [count: number, last: number | null]>(
        `SELECT count(bytes), max(seq) FROM (
           SELECT seq, octet_length(value) AS bytes FROM records
           WHERE expires_ms > 0 AND expires_ms = ? AND seq > ? ORDER BY seq LIMIT ?)`,
      )
      .raw(),
  remove: (db: Db) => db.prepare('DELETE FROM records WHERE seq = ?'),
  read: (db: Db) => db.prepare<unknown[], JoinedRow>(`${JOINED} WHERE key = ?`).raw(),
  since: (db: Db) =>
    db.prepare<unknown[], JoinedRow>(`${JOINED} WHERE seq > ? ORDER BY seq LIMIT ?`).raw(),
  last: (db: Db) =>
    db
      .prepare<unknown[], LastRow>(
        'SELECT key, ms, tie, length(value), hash FROM records ORDER BY seq DESC LIMIT ?',
      )
      .raw(),
  stampsSince: (db: Db) =>
    db
      .prepare<unknown[], StampRow>(
        'SELECT seq, key, ms, tie FROM records WHERE seq > ? ORDER BY seq LIMIT ?',
      )
      .raw(),
  sizesUp: (db: Db) => db.prepare<unknown[], number>(`SELECT ${ROW_BYTES} ${UP}`).pluck(),
  sizesDown: (db: Db) => db.prepare<unknown[], number>(`SELECT ${ROW_BYTES} ${DOWN}`).pluck(),
  sumUp: (db: Db) =>
    db.prepare<unknown[], SumRow>(`${SUMMED} FROM (SELECT ${SUMMANDS} ${UP})`).raw(),
  sumDown: (db: Db) =>
    db.prepare<unknown[], SumRow>(`${SUMMED} FROM (SELECT ${SUMMANDS} ${DOWN})`).raw(),
  rowsUp: (db: Db) => db.prepare<unknown[], TogetherRow>(`${TOGETHER} FROM (SELECT * ${UP})`).raw(),
  rowsDown: (db: Db) =>
    db.prepare<unknown[], TogetherRow>(`${TOGETHER} FROM (SELECT * ${DOWN})`).raw(),
};

/**
 * Among the `limit` rows behind a sequence, fewer if their values are long, returns those that the
 * floor covers, and the last row's sequence, null if there are no rows.
 */
export function oldRows(
  sql: PreparedStatements,
  { after, limit, floor }: Readonly<Record<'after' | 'limit' | 'floor', number>>,
): { readonly last: number | null; readonly old: readonly DeadRow[] } {
  for (let rows = limit; ; rows = Math.ceil(rows / 2)) {
    const [last, bytes] = must(sql.of(statements.lastBehind).get(after, rows), 'it has a row');
    if (last === null) return { last, old: [] };
    if (bytes > EXAMINED_BYTES_MAX && rows > 1) continue;
    return { last, old: sql.of(statements.oldTombstones).all({ after, last, floor }) };
  }
}

/** Inserts rows, or replaces those that they supersede. Returns the bytes of their values. */
export function storeRows(sql: PreparedStatements, rows: Memtable): number {
  let valueBytes = 0;
  const isLong = rows.size >= ROWS_FOR_INSERT_MANY;
  const insert = sql.of(statements.insert);
  let batch: unknown[] = [];
  for (const row of rows.values()) {
    const { seq, key, ms, tie, value, hash } = row;
    valueBytes += value?.length ?? 0;
    if (!isPlain(row)) storeUnusual(sql, row);
    else if (!isLong) insert.run(seq, key, ms, tie, value, hash);
    else {
      batch.push(seq, key, ms, tie, value, hash);
      if (batch.length < 6 * ROWS_OF_INSERT_MANY) continue;
      sql.of(statements.insertMany).run(batch);
      batch = [];
    }
  }
  for (let at = 0; at < batch.length; at += 6) insert.run(batch.slice(at, at + 6));
  return valueBytes;
}

/** Whether the row is new, does not expire and has no origin. */
function isPlain({ replaces, expiresMs, origin }: PendingRow): boolean {
  return replaces === null && expiresMs === 0 && origin === null;
}

export function storeCounters(
  sql: PreparedStatements,
  { seq, rows, tombstones, bytes, digest, highest_ms, checksum }: MetaRow,
): void {
  const counters = [seq, rows, tombstones, bytes, digest, highest_ms, checksum];
  sql.of(statements.setCounters).run(...counters);
}

/** Changes a page in any case: a checkpoint of no page syncs no new file. Counters come next. */
export function storeMarks(
  sql: PreparedStatements,
  { state, barrier_ms, floor_ms }: MetaRow,
): void {
  sql.of(statements.setMarks).run(state, barrier_ms, floor_ms);
}

function storeUnusual(sql: PreparedStatements, row: PendingRow): void {
  const { seq, key, ms, tie, value, hash, expiresMs, origin, replaces } = row;
  const columns = [ms, tie, value, hash, expiresMs, origin?.ms ?? 0, origin?.tie ?? 0];
  if (replaces === null) {
    sql.of(statements.insertFull).run(seq, key, ...columns);
    return;
  }
  const { changes } = sql.of(statements.replace).run(seq, ...columns, replaces);
  assert(changes === 1, 'the row that another one replaces is in the file');
}

type Prepare<Row> = (db: Database.Database) => Database.Statement<unknown[], Row>;

/**
 * The tables of one open file, and its prepared statements. One takes 5 KiB, and a device may have
 * a thousand files open. They are found by the function that makes them, which all files share: a
 * closure of each for each file took 4 KiB more.
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
    const prepared = this.#prepared.get(prepare);
    // Each function maps to the statement that it prepared.
    if (prepared !== undefined) return prepared as Database.Statement<unknown[], Row>;
    const statement = prepare(this.db);
    this.#prepared.set(prepare, statement);
    return statement;
  }
}
