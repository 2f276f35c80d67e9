// Rows of partitions, for whoever has the store: pages of them in the order of key bytes, what
// other holders have of them, and how two files are compared that differ only in their last rows.
import { byteText } from '@ringwright/base/as-buffer';
import { compareStamps, type Stamp } from '@ringwright/base/stamp';
import type { PartitionRef } from '../file/data-paths.ts';
import { emptyDigest, toggleRow } from '../file/digest.ts';
import { type KeyPageBounds, readKeyPage, sumKeyPage } from '../file/key-page.ts';
import type { PartitionFile } from '../file/partition-file.ts';
import type { PartitionInfo } from '../file/partition-info.ts';
import { statements } from '../file/partition-statements.ts';
import { partitionOf, type StoreParts } from './store-parts.ts';
import { readForRequest, readPartitionFile } from './use-partition.ts';

/** All methods throw PARTITION_ABSENT and PARTITION_DAMAGED. */
export function storePeers(parts: StoreParts) {
  const withFile = <T>(ref: PartitionRef, use: (file: PartitionFile) => T): T =>
    readPartitionFile(parts, partitionOf(parts, ref), use);
  return {
    /**
     * The sequence up to which `peer` has confirmed this incarnation; 0 if it has confirmed
     * nothing.
     */
    confirmed: (ref: PartitionRef, peer: string) =>
      withFile(ref, (file) => file.watermarks.get(peer)),
    /**
     * Notes that `peer` holds everything up to `seq`; does not open a closed file for it. Throws
     * VALUE_OUT_OF_RANGE above the file's own sequence.
     */
    confirm: (ref: PartitionRef, peer: string, seq: number): void => {
      const { file, damage } = partitionOf(parts, ref);
      if (damage !== null) throw damage;
      file?.confirm(peer, seq);
    },
    /** The last rows and the digest of all, so that another holder can compare its file. */
    tail: (ref: PartitionRef, rowsMax: number) => withFile(ref, (file) => tailOf(file, rowsMax)),
    /**
     * Whether another file, judged by its tail, has each record of this one or a newer one of its
     * key.
     */
    isCoveredBy: (ref: PartitionRef, tail: Pick<FileTail, 'digest' | 'rows'>) =>
      withFile(ref, (file) => isCoveredBy(file, tail)),
  };
}

interface FileTail extends Pick<PartitionInfo, 'incarnation' | 'digest'> {
  readonly rows: readonly TailRow[];
}

interface TailRow extends Stamp {
  readonly key: Uint8Array;
  /** The row hash. */
  readonly hash: Buffer;
}

/**
 * Bytes of values of a tail's rows in the file. Reading a hash takes as long as reading the value
 * before it: 0.5 ms for 1 MiB.
 */
const TAIL_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Returns up to `rowsMax` rows, newest first, and the digest at that moment. Fewer if values are
 * long. Does not flush.
 */
function tailOf(file: PartitionFile, rowsMax: number): FileTail {
  const pending = [...file.pending.values()].reverse();
  const stored = pending.length < rowsMax ? storedTail(file, rowsMax) : [];
  const rows = [...pending, ...stored].slice(0, rowsMax);
  const { incarnation, digest } = file.info();
  return {
    incarnation,
    digest,
    rows: rows.map(({ key, ms, tie, hash }) => ({ key, ms, tie, hash })),
  };
}

/** Without the rows that a pending row replaces. */
function storedTail(file: PartitionFile, rowsMax: number): TailRow[] {
  const rows: TailRow[] = [];
  let bytes = 0;
  for (const row of file.stored.of(statements.last).iterate(rowsMax)) {
    const [key, ms, tie, valueBytes, hash] = row;
    bytes += valueBytes ?? 0;
    if (bytes > TAIL_BYTES_MAX) break;
    if (file.pending.find(byteText(key)) === undefined) rows.push({ key, ms, tie, hash });
  }
  return rows;
}

/**
 * Whether the file with this tail holds each record of `file`, or a newer one of its key. Keys in
 * the tail are compared by their stamps. All other rows are equal when the digests of both files,
 * each without the rows of those keys, are equal. False may also mean that the tail is too short.
 */
function isCoveredBy(file: PartitionFile, tail: Pick<FileTail, 'digest' | 'rows'>): boolean {
  let difference = emptyDigest;
  for (const digest of [file.info().digest, tail.digest]) {
    difference = toggleRow(difference, Buffer.from(digest, 'hex'));
  }
  for (const row of tail.rows) {
    difference = toggleRow(difference, row.hash);
    const stored = file.heldRow(row.key);
    if (stored === null) continue;
    if (compareStamps(stored, row) > 0) return false;
    difference = toggleRow(difference, stored.hash);
  }
  return difference.high === 0 && difference.low === 0;
}

export function storePages(parts: StoreParts) {
  return {
    /** Throws PARTITION_ABSENT, PARTITION_DAMAGED, RECORD_DAMAGED. */
    read: (ref: PartitionRef, bounds: KeyPageBounds) =>
      readForRequest(parts, partitionOf(parts, ref), (file) => readKeyPage(file, bounds)),
    /** The same page without its values. Throws PARTITION_ABSENT, PARTITION_DAMAGED. */
    sum: (ref: PartitionRef, bounds: KeyPageBounds) =>
      readForRequest(parts, partitionOf(parts, ref), (file) => sumKeyPage(file, bounds)),
  };
}
