// The limits one store runs with; tests make them small. Reasons: limits-store.ts and
// limits-copies.ts of the base package. Pure.
import { copyHeldBytesMax } from '@ringwright/base/limits-copies';
import * as limits from '@ringwright/base/limits-store';

export interface StoreLimits {
  readonly logSegmentBytesMax: number;
  readonly logSegmentsBehindMax: number;
  readonly logBatchBytesMax: number;
  readonly logBatchWritesMax: number;
  readonly logQueueBytesMax: number;
  readonly openPartitionFilesMax: number;
  readonly walBytesMax: number;
  readonly memtableRowsMax: number;
  readonly memtableBytesMax: number;
  readonly memtablesBytesMax: number;
  readonly diskReserveBytes: number;
  readonly mergeRowsMax: number;
  readonly mergeBytesMax: number;
  readonly copyHeldBytesMax: number;
}

export function storeLimits(overrides: Partial<StoreLimits> = {}): StoreLimits {
  return {
    logSegmentBytesMax: limits.logSegmentBytesMax,
    logSegmentsBehindMax: limits.logSegmentsBehindMax,
    logBatchBytesMax: limits.logBatchBytesMax,
    logBatchWritesMax: limits.logBatchWritesMax,
    logQueueBytesMax: limits.logQueueBytesMax,
    openPartitionFilesMax: limits.openPartitionFilesMax,
    walBytesMax: limits.walBytesMax,
    memtableRowsMax: limits.memtableRowsMax,
    memtableBytesMax: limits.memtableBytesMax,
    memtablesBytesMax: limits.memtablesBytesMax,
    diskReserveBytes: limits.diskReserveBytes,
    mergeRowsMax: limits.mergeRowsMax,
    mergeBytesMax: limits.mergeBytesMax,
    copyHeldBytesMax,
    ...overrides,
  };
}
