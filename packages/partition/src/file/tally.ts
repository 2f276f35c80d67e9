// The counters of a partition as writes change them, ahead of the row of `meta` that stores them.
import { type Digest, emptyDigest, formatDigest, parseDigest, toggleRow } from './digest.ts';
import type { MetaRow } from './schema.ts';

/** Mutable: changed row by row, written into a meta row when the rows reach the file. */
export interface Tally {
  seq: number;
  rows: number;
  tombstones: number;
  bytes: number;
  highest_ms: number;
  digest: Digest;
}

/** What a row counts for. */
interface CountedRow {
  readonly valueBytes: number | null;
  readonly hash: Buffer;
}

/** Of no row. */
export function newTally(): Tally {
  return { seq: 0, rows: 0, tombstones: 0, bytes: 0, highest_ms: 0, digest: emptyDigest };
}

export function tallyOf(meta: MetaRow): Tally {
  const { seq, rows, tombstones, bytes, highest_ms } = meta;
  const digest = parseDigest(meta.digest) ?? emptyDigest;
  return { seq, rows, tombstones, bytes, highest_ms, digest };
}

export function countRow(tally: Tally, row: CountedRow): void {
  count(tally, row, 1);
}

export function discountRow(tally: Tally, row: CountedRow): void {
  count(tally, row, -1);
}

function count(tally: Tally, { valueBytes, hash }: CountedRow, by: 1 | -1): void {
  if (valueBytes === null) tally.tombstones += by;
  else {
    tally.rows += by;
    tally.bytes += by * valueBytes;
  }
  tally.digest = toggleRow(tally.digest, hash); // its own inverse
}

/** The columns of `meta` that hold a tally. */
export function tallyColumns(tally: Tally) {
  return { ...tally, digest: formatDigest(tally.digest) };
}
