// Reads records from an open partition file, and compares each with its hash.
import { byteText } from '@ringwright/base/as-buffer';
import { CodedError } from '@ringwright/base/coded-error';
import type { Stamp } from '@ringwright/base/stamp';
import { rowHashBytes } from './digest.ts';
import type { PendingRow } from './memtable.ts';
import type { PartitionFile } from './partition-file.ts';
import { type JoinedRow, type StampRow, statements } from './partition-statements.ts';
import type { HashedRow, PageBounds, RowsPage, StoredRecord, StoredStamp } from './record.ts';
import { matchesHash } from './record-bytes.ts';

export function readRecord(file: PartitionFile, key: Uint8Array): StoredRecord | null {
  const name = byteText(key);
  const cached = file.rowInMemory(name);
  if (cached !== undefined) return cached;
  const stored = file.stored.of(statements.read).get(key);
  if (stored === undefined) return null;
  const row = verified(file, stored);
  file.rowCache.keep(name, row);
  return row;
}

/** Unlike heldRow, does not read the hash, which is stored behind the value and takes as long. */
export function readStamp(file: PartitionFile, key: Uint8Array): Stamp | null {
  const name = byteText(key);
  const known = file.pending.find(name) ?? file.rowCache.find(name);
  if (known !== undefined) return known;
  const stored = file.stored.of(statements.stamp).get(key);
  if (stored === undefined) return null;
  const [ms, tie] = stored;
  return { ms, tie };
}

/**
 * Returns records with a sequence above `seq`, lowest first. Flushes pending rows only if the file
 * is needed too.
 */
export function recordsSince(
  file: PartitionFile,
  seq: number,
  bounds: PageBounds,
): RowsPage<HashedRow> {
  const pending = file.pendingSince(seq);
  if (pending !== null) return page(file, bounds, { rows: pending, read: asItIs, bytes: bytesOf });
  file.flush();
  return storedSince(file, seq, bounds);
}

/** Reads only what the file itself has; pending rows are left out and may be newer. */
export function storedSince(
  file: PartitionFile,
  seq: number,
  bounds: PageBounds,
): RowsPage<HashedRow> {
  return page(file, bounds, {
    rows: file.stored.of(statements.since).iterate(seq, bounds.rowsMax + 1),
    read: (row: JoinedRow) => verified(file, row),
    bytes: bytesOf,
  });
}

function bytesOf({ key, value }: HashedRow): number {
  return key.length + (value?.length ?? 0);
}

const asItIs = (row: PendingRow): HashedRow => row;

/** Like recordsSince without the values. The hashes cover the values, so they are not compared. */
export function stampsSince(
  file: PartitionFile,
  seq: number,
  bounds: PageBounds,
): RowsPage<StoredStamp> {
  return page(file, bounds, {
    rows: file.sql.of(statements.stampsSince).iterate(seq, bounds.rowsMax + 1),
    read: ([rowSeq, key, ms, tie]: StampRow) => ({ seq: rowSeq, key, ms, tie }),
    bytes: ({ key }) => key.length,
  });
}

function page<Raw, Row extends { readonly seq: number }>(
  file: PartitionFile,
  bounds: PageBounds,
  source: { rows: Iterable<Raw>; read: (raw: Raw) => Row; bytes: (row: Row) => number },
): RowsPage<Row> {
  const rows: Row[] = [];
  let bytes = 0;
  for (const raw of source.rows) {
    const row = source.read(raw);
    bytes += source.bytes(row);
    const isFull = rows.length >= bounds.rowsMax || bytes > bounds.bytesMax;
    if (isFull && rows.length > 0) return { rows, lastSeq: rows.at(-1)?.seq ?? 0, more: true };
    rows.push(row);
  }
  // Without more rows the page covers the whole file, including sequences whose rows were replaced.
  return { rows, lastSeq: file.seq, more: false };
}

function verified(file: PartitionFile, row: JoinedRow): HashedRow {
  const [seq, keyBytes, ms, tie, isDeletion, expiresMs, originMs, originTie, bytes] = row;
  const key = bytes.subarray(0, keyBytes);
  const hash = bytes.subarray(keyBytes, keyBytes + rowHashBytes);
  const value = isDeletion === 1 ? null : bytes.subarray(keyBytes + rowHashBytes);
  const origin = originMs === 0 && originTie === 0 ? null : { ms: originMs, tie: originTie };
  const record = { key, value, ms, tie, expiresMs, origin, seq, hash };
  if (matchesHash(record, hash)) return record;
  throw damagedRecord(file, seq, key);
}

export function damagedRecord(file: PartitionFile, seq: number, key: Uint8Array): CodedError {
  const { keyspace, partition } = file.info();
  return new CodedError(
    'RECORD_DAMAGED',
    `record ${seq} of ${keyspace}/${partition} does not match its hash`,
    {
      hint: 'the disk or memory changed it: drop the partition and let it refill from its peers',
      details: { keyspace, partition, seq, key: Buffer.from(key).toString('hex') },
    },
  );
}
