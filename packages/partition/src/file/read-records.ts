// Reads records out of an open partition file. Each is compared with its hash first.
import { CodedError } from '@ringwright/base/coded-error';
import type { PartitionFile } from './partition-file.ts';
import { type FullRow, rowContent, type StampRow, statements } from './partition-statements.ts';
import type { PageBounds, RowsPage, StoredRecord, StoredStamp } from './record.ts';
import { matchesHash } from './record-bytes.ts';

export function readRecord(file: PartitionFile, key: Uint8Array): StoredRecord | null {
  const pending = file.pendingRow(key);
  if (pending !== undefined) return pending;
  const row = file.storedRow(key);
  return row === undefined ? null : verified(file, row);
}

/** Records with a sequence above `seq`, lowest first. */
export function recordsSince(
  file: PartitionFile,
  seq: number,
  bounds: PageBounds,
): RowsPage<StoredRecord> {
  return page(file, bounds, {
    rows: file.sql.of(statements.since).iterate(seq, bounds.rowsMax + 1),
    read: (row: FullRow) => verified(file, row),
    bytes: ({ key, value }) => key.length + (value?.length ?? 0),
  });
}

/** As recordsSince without the values; the hash needs these, so it is not compared. */
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

/**
 * Up to `limit` records with a key above `afterKey`, in key order; an empty key starts at the
 * first.
 */
export function scanRecords(
  file: PartitionFile,
  afterKey: Uint8Array,
  limit: number,
): StoredRecord[] {
  return file.sql
    .of(statements.afterKey)
    .all(afterKey, limit)
    .map((row) => verified(file, row));
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
    const full = rows.length >= bounds.rowsMax || bytes > bounds.bytesMax;
    if (full && rows.length > 0) return { rows, lastSeq: rows.at(-1)?.seq ?? 0, more: true };
    rows.push(row);
  }
  // Without more rows the whole file is covered, also the numbers whose rows have moved on.
  return { rows, lastSeq: file.seq, more: false };
}

function verified(file: PartitionFile, row: FullRow): StoredRecord {
  const [seq, , , , , hash] = row;
  const content = rowContent(row);
  if (matchesHash(content, hash)) return { ...content, seq };
  const { keyspace, partition } = file.info();
  throw new CodedError(
    'RECORD_DAMAGED',
    `record ${seq} of ${keyspace}/${partition} does not match its hash`,
    {
      hint: 'the disk or memory changed it: drop the partition and let it refill from its peers',
      details: { keyspace, partition, seq, key: Buffer.from(content.key).toString('hex') },
    },
  );
}
