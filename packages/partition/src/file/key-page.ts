// A page of a partition in key order: its sum, or its records. SQLite concatenates the rows of a
// page, because each row that it returns by itself costs 1 us.
import { must } from '@ringwright/base/assert';
import { type KeyBounds, positionAfterKey, positionBytesMax } from '@ringwright/base/key-bounds';
import { rowHashBytes } from './digest.ts';
import type { PartitionFile } from './partition-file.ts';
import { type RowNumbers, statements } from './partition-statements.ts';
import { damagedRecord } from './read-records.ts';
import type { HashedRow } from './record.ts';
import { matchesHash } from './record-bytes.ts';
import { pageBytes } from './schema.ts';

export interface KeyPageBounds extends KeyBounds {
  /** Maximum number of records. */
  readonly limit: number;
  /** Bytes of keys and values. The record that reaches this limit is the last of the page. */
  readonly bytesMax: number;
  /** Records that have expired by this time count as gone. */
  readonly nowMs: number;
}

/** Files with the same records have the same page sums. */
interface KeyPageSum {
  readonly count: number;
  /** Number of records that are deleted or expired. */
  readonly gone: number;
  /** All stored row hashes in page order; no value is compared with its hash. */
  readonly hashes: Buffer;
  /** Where the next page begins; null: the end of the interval. */
  readonly next: Uint8Array | null;
}

export interface KeyPage extends KeyPageSum {
  readonly rows: readonly HashedRow[];
}

/** SQLite stores a row with such a value in its leaf and at most one page more. */
const SHORT_VALUE_BYTES = pageBytes;
const NO_HASHES = Buffer.alloc(0);
const ABOVE_ALL_KEYS = Buffer.alloc(positionBytesMax, 0xff);

/**
 * Reads no values. Most pages are summed at once. Where values are long, their lengths first decide
 * which records are in the page, because the rest of each row is stored behind its value.
 */
export function sumKeyPage(file: PartitionFile, bounds: KeyPageBounds): KeyPageSum {
  const { limit, bytesMax, reverse } = bounds;
  let sum = sumOf(file, bounds, { rows: limit, valueBytesMax: SHORT_VALUE_BYTES });
  if (sum.bytes >= bytesMax || sum.hashes.length < sum.count * rowHashBytes) {
    const rows = countRows(file, bounds);
    sum = sumOf(file, bounds, { rows, valueBytesMax: Number.MAX_SAFE_INTEGER });
  }
  const { count, bytes, gone, hashes, last } = sum;
  const isFull = count === limit || bytes >= bytesMax;
  const next = isFull && last !== null ? positionAfterKey(last, reverse) : null;
  return { count, gone, hashes, next };
}

function sumOf(
  file: PartitionFile,
  { from, to, reverse, nowMs }: KeyPageBounds,
  { rows, valueBytesMax }: { readonly rows: number; readonly valueBytesMax: number },
) {
  const statement = file.sql.of(reverse ? statements.sumDown : statements.sumUp);
  const bound = [valueBytesMax, valueBytesMax, nowMs, from, to ?? ABOVE_ALL_KEYS, rows];
  const [count, bytes, gone, lowest, highest, hashes] = must(statement.get(bound), 'it has a row');
  return { count, bytes, gone, hashes: hashes ?? NO_HASHES, last: reverse ? lowest : highest };
}

/** Counts the records up to the one that reaches a limit of the page. */
function countRows(
  file: PartitionFile,
  { from, to, reverse, limit, bytesMax }: KeyPageBounds,
): number {
  const statement = file.sql.of(reverse ? statements.sizesDown : statements.sizesUp);
  const sizes = statement.all(from, to ?? ABOVE_ALL_KEYS, limit);
  let bytes = 0;
  const last = sizes.findIndex((size) => (bytes += size) >= bytesMax);
  return last === -1 ? sizes.length : last + 1;
}

/** Reads the page with its records, and compares each with its hash. Throws RECORD_DAMAGED. */
export function readKeyPage(file: PartitionFile, bounds: KeyPageBounds): KeyPage {
  const sum = sumKeyPage(file, bounds);
  return { ...sum, rows: sum.count === 0 ? [] : readRows(file, bounds, sum.count) };
}

function readRows(file: PartitionFile, { from, to, reverse }: KeyBounds, count: number) {
  const statement = file.sql.of(reverse ? statements.rowsDown : statements.rowsUp);
  const row = statement.get(from, to ?? ABOVE_ALL_KEYS, count);
  const [bytes, numbers] = must(row, 'it has a row');
  let at = 0;
  return (JSON.parse(numbers) as RowNumbers[]).map((ofRow) => {
    const [seq, keyBytes, valueBytes, ms, tie, expiresMs, originMs, originTie] = ofRow;
    const key = bytes.subarray(at, (at += keyBytes));
    const hash = bytes.subarray(at, (at += rowHashBytes));
    const value = valueBytes === null ? null : bytes.subarray(at, (at += valueBytes));
    const origin = originMs === 0 && originTie === 0 ? null : { ms: originMs, tie: originTie };
    const record = { key, value, ms, tie, expiresMs, origin, seq, hash };
    if (matchesHash(record, hash)) return record;
    throw damagedRecord(file, seq, key);
  });
}
