// The counters of a partition as writes change them, ahead of the `meta` row that stores them.
import { type Digest, emptyDigest, formatDigest, parseDigest, toggleRow } from './digest.ts';
import type { MetaRow } from './schema.ts';

/** Mutable: changed row by row, stored in the meta row when the rows are flushed. */
export interface Tally {
  seq: number;
  rows: number;
  tombstones: number;
  bytes: number;
  highest_ms: number;
  digest: Digest;
}

/** The parts of a row that are counted. */
interface CountedRow {
  readonly valueBytes: number | null;
  readonly hash: Buffer;
}

/** Counters of an empty partition. */
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
  // XOR is its own inverse.
  tally.digest = toggleRow(tally.digest, hash);
}

/** The columns of `meta` that hold a tally. */
export function tallyColumns(tally: Tally) {
  return { ...tally, digest: formatDigest(tally.digest) };
}
