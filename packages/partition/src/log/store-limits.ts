// The limits of one store; tests make them small. Reasons: limits-store.ts and limits-copies.ts of
// the base package. Pure.
import { copyHeldBytesMax } from '@ringwright/base/limits-copies';
import * as limits from '@ringwright/base/limits-store';

const usual = {
  logSegmentBytesMax: limits.logSegmentBytesMax,
  logSegmentsBehindMax: limits.logSegmentsBehindMax,
  logBatchBytesMax: limits.logBatchBytesMax,
  logBatchWritesMax: limits.logBatchWritesMax,
  logQueueBytesMax: limits.logQueueBytesMax,
  logStallMs: limits.logStallMs,
  openPartitionFilesMax: limits.openPartitionFilesMax,
  walBytesMax: limits.walBytesMax,
  memtableRowsMax: limits.memtableRowsMax,
  memtableBytesMax: limits.memtableBytesMax,
  memtablesBytesMax: limits.memtablesBytesMax,
  diskReserveBytes: limits.diskReserveBytes,
  mergeRowsMax: limits.mergeRowsMax,
  mergeBytesMax: limits.mergeBytesMax,
  copyHeldBytesMax,
};

export type StoreLimits = Readonly<Record<keyof typeof usual, number>>;

export function storeLimits(overrides: Partial<StoreLimits> = {}): StoreLimits {
  return { ...usual, ...overrides };
}
