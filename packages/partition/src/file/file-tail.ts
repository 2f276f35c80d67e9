// The last rows of a file with the digest of all its rows. It serves to compare two files that
// differ only in those rows.
import { byteText } from '@ringwright/base/as-buffer';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import { emptyDigest, toggleRow } from './digest.ts';
import type { PartitionFile } from './partition-file.ts';
import type { PartitionInfo } from './partition-info.ts';
import { statements } from './partition-statements.ts';

export interface FileTail extends Pick<PartitionInfo, 'incarnation' | 'digest'> {
  readonly rows: readonly TailRow[];
}

interface TailRow extends Stamp {
  readonly key: Uint8Array;
  /** The row hash. */
  readonly hash: Buffer;
}

/** Returns up to `rowsMax` rows, newest first, and the digest at that moment. Does not flush. */
export function tailOf(file: PartitionFile, rowsMax: number): FileTail {
  const pending = [...file.pending.values()].reverse();
  const stored = (pending.length < rowsMax ? file.stored.of(statements.last).all(rowsMax) : [])
    .map(([key, ms, tie, hash]) => ({ key, ms, tie, hash }))
    .filter(({ key }) => file.pending.find(byteText(key)) === undefined);
  const rows = [...pending, ...stored].slice(0, rowsMax);
  const { incarnation, digest } = file.info();
  return {
    incarnation,
    digest,
    rows: rows.map(({ key, ms, tie, hash }) => ({ key, ms, tie, hash })),
  };
}

/**
 * Whether the file with this tail holds each record of `file`, or a newer one of its key. Keys in
 * the tail are compared by their stamps. All other rows are equal when the digests of both files,
 * each without the rows of those keys, are equal. False may also mean that the tail is too short.
 */
export function isCoveredBy(file: PartitionFile, tail: Pick<FileTail, 'digest' | 'rows'>): boolean {
  let difference = emptyDigest;
  for (const digest of [file.info().digest, tail.digest]) {
    difference = toggleRow(difference, Buffer.from(digest, 'hex'));
  }
  for (const row of tail.rows) {
    difference = toggleRow(difference, row.hash);
    const held = file.heldRow(row.key);
    if (held === null) continue;
    if (compareStamps(held, row) > 0) return false;
    difference = toggleRow(difference, held.hash);
  }
  return difference.high === 0 && difference.low === 0;
}
