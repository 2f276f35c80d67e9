// Reads all rows for an audit, many at a time: fetching them one by one costs more than reading
// them.
import { freeOwnBytes } from '@ringwright/base/free-bytes';
import type Database from 'better-sqlite3';
import type { HashedRow } from '../file/record.ts';

/** Rows whose numbers are read at once. */
const ROWS_MAX = 512;
/** Row bytes read at once; a single row may have more. */
const BYTES_MAX = 256 * 1024;

type NumberRow = [
  seq: number,
  ms: number,
  tie: number,
  expiresMs: number,
  originMs: number,
  originTie: number,
  keyBytes: number,
  hashBytes: number,
  valueBytes: number | null,
];

const NUMBERS = `SELECT seq, ms, tie, expires_ms, origin_ms, origin_tie, length(key), length(hash),
  length(value) FROM records WHERE seq > ? ORDER BY seq LIMIT ${ROWS_MAX}`;

// `||` of blobs gives text with the same bytes, whatever they are. If the order differed from the
// one requested, the bytes would match no hash.
const BYTES = `SELECT CAST(group_concat(key || hash || coalesce(value, x''), '') AS BLOB)
  FROM (SELECT key, hash, value FROM records WHERE seq BETWEEN ? AND ? ORDER BY seq)`;

/**
 * Yields rows in sequence order. A row's bytes are invalid once the next row is requested. The
 * tables must have passed integrity_check, which verifies the types of all columns.
 */
export function* auditedRows(db: Database.Database): Generator<HashedRow> {
  const numbers = db.prepare<[number], NumberRow>(NUMBERS).raw();
  const bytes = db.prepare<[number, number], Buffer>(BYTES).pluck();
  for (let after = 0; ; ) {
    const rows = numbers.all(after);
    for (let start = 0; start < rows.length; ) {
      const pieceRows = rows.slice(start, endOfPiece(rows, start));
      after = pieceRows.at(-1)?.[0] ?? after;
      const piece = bytes.get(pieceRows[0]?.[0] ?? 0, after) ?? Buffer.alloc(0);
      yield* rowsOf(pieceRows, piece);
      // Left to the garbage collector they cost as much as reading them.
      freeOwnBytes(piece);
      start += pieceRows.length;
    }
    if (rows.length < ROWS_MAX) return;
  }
}

/** Returns the end of a piece of at least one row. */
function endOfPiece(rows: readonly NumberRow[], start: number): number {
  let [end, bytes] = [start, 0];
  do {
    const [, , , , , , key, hash, value] = rows[end] as NumberRow;
    bytes += key + hash + (value ?? 0);
    end += 1;
  } while (end < rows.length && bytes < BYTES_MAX);
  return end;
}

function* rowsOf(rows: readonly NumberRow[], piece: Buffer): Generator<HashedRow> {
  let at = 0;
  const next = (bytes: number): Buffer => piece.subarray(at, (at += bytes));
  for (const [seq, ms, tie, expiresMs, originMs, originTie, key, hash, value] of rows) {
    const [keyOf, hashOf] = [next(key), next(hash)];
    const valueOf = value === null ? null : next(value);
    const origin = originMs === 0 && originTie === 0 ? null : { ms: originMs, tie: originTie };
    yield { seq, key: keyOf, value: valueOf, hash: hashOf, ms, tie, expiresMs, origin };
  }
}
