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
  /** Stored row hashes in page order; no value is compared with its hash. */
  readonly hashes: readonly Buffer[];
  /** Where the next page begins; null: the end of the interval. */
  readonly next: Uint8Array | null;
}

export interface KeyPage extends KeyPageSum {
  readonly rows: readonly HashedRow[];
}

const ABOVE_ALL_KEYS = Buffer.alloc(positionBytesMax, 0xff);

/**
 * Reads no values. If a batch of rows exceeds the page's bytes, the batch is halved and tried again
 * until the row that ends the page is found.
 */
export function sumKeyPage(file: PartitionFile, bounds: KeyPageBounds): KeyPageSum {
  const { reverse, limit, bytesMax, nowMs } = bounds;
  const statement = file.sql.of(reverse ? statements.sumDown : statements.sumUp);
  const hashes: Buffer[] = [];
  let { from, to } = bounds;
  let [count, bytes, gone, step] = [0, 0, 0, limit];
  for (;;) {
    const batchRows = Math.min(step, limit - count);
    const row = statement.get(nowMs, from, to ?? ABOVE_ALL_KEYS, batchRows);
    const [found, foundBytes, foundGone, lowest, highest, foundHashes] = must(row, 'it has a row');
    const last = reverse ? lowest : highest;
    if (last === null || foundHashes === null) return { count, gone, hashes, next: null };
    if (batchRows > 1 && bytes + foundBytes >= bytesMax) {
      step = Math.ceil(batchRows / 2);
      continue;
    }
    hashes.push(foundHashes);
    count += found;
    bytes += foundBytes;
    gone += foundGone;
    const next = positionAfterKey(last, reverse);
    if (count === limit || bytes >= bytesMax) return { count, gone, hashes, next };
    if (found < batchRows) return { count, gone, hashes, next: null };
    if (reverse) to = next;
    else from = next;
  }
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
