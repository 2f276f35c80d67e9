// Writes gathered for one frame of the log, encoded as they arrive.
import { assert } from '@ringwright/base/assert';
import type { MarksChange } from '../file/marks-change.ts';
import type { HashedRecord } from '../file/memtable.ts';
import type { Partition } from '../file/partition.ts';
import type { Write, WriteOutcome } from '../file/record.ts';
import { hashRecordBytes } from '../file/record-bytes.ts';
import {
  changeLength,
  defineLength,
  encodeChange,
  encodeDefine,
  encodeWrite,
  writeLength,
} from './log-entries.ts';
import { frameHeaderBytes } from './log-frame.ts';

/** One call of `write`; it resolves when its last write is applied. */
export interface WriteCall {
  readonly outcomes: WriteOutcome[];
  waiting: number;
  readonly resolve: (outcomes: readonly WriteOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Queued {
  readonly partition: Partition;
  readonly call: WriteCall;
  /** Position in the call's outcomes. */
  readonly index: number;
}

interface QueuedWrite extends HashedRecord, Queued {}

/** A log entry that changes a partition's marks instead of a record. */
export interface LoggedChange {
  readonly change: MarksChange;
}

interface QueuedChange extends LoggedChange, Queued {}

export interface LogBatch {
  /** Number of the segment that this batch will be written to. */
  readonly segment: number;
  buffer: Buffer;
  used: number;
  readonly entries: (QueuedWrite | QueuedChange)[];
}

export function emptyBatch(segment: number, buffer: Buffer): LogBatch {
  return { segment, buffer, used: frameHeaderBytes, entries: [] };
}

/** Upper bound of an entry's bytes in a batch, including its partition's name. */
export function bytesInBatch(entry: Write | LoggedChange, partition: Partition): number {
  const length = 'change' in entry ? changeLength : writeLength(entry);
  return length + defineLength(partition);
}

/** Makes room for `bytes` more. Views of earlier writes stay valid: they use the old buffer. */
export function growBatch(batch: LogBatch, bytes: number, bytesMax: number): void {
  const needed = batch.used + bytes;
  if (needed <= batch.buffer.length) return;
  const length = Math.max(needed, Math.min(2 * batch.buffer.length, bytesMax));
  const larger = Buffer.allocUnsafeSlow(length);
  batch.buffer.copy(larger, 0, 0, batch.used);
  batch.buffer = larger;
}

/** Encodes an entry. `nextIndex` numbers its partition if this segment does not define it yet. */
export function addToBatch(
  batch: LogBatch,
  entry: Write | LoggedChange,
  { place: queued, nextIndex }: { readonly place: Queued; readonly nextIndex: () => number },
): void {
  const { partition } = queued;
  const { buffer } = batch;
  assert(batch.used + bytesInBatch(entry, partition) <= buffer.length, 'the batch has room');
  if (partition.logSegment !== batch.segment) {
    partition.logSegment = batch.segment;
    partition.logIndex = nextIndex();
    const destination = { target: buffer, offset: batch.used };
    batch.used = encodeDefine(partition, partition.logIndex, destination);
  }
  const destination = { target: buffer, offset: batch.used };
  if ('change' in entry) {
    batch.used = encodeChange(entry.change, partition.logIndex, destination);
    batch.entries.push({ ...queued, change: entry.change });
    return;
  }
  const { start, end } = encodeWrite(entry, partition.logIndex, destination);
  batch.used = end;
  batch.entries.push(queuedWrite(entry, queued, hashRecordBytes(buffer.subarray(start, end))));
}

/** Values of at least this size get memory of their own, which is freed with their row. */
const FREED_BYTES_MIN = 16 * 1024;

/** Copies key and value: the caller may reuse its arrays, and the batch's buffer is reused too. */
function queuedWrite(write: Write, { partition, call, index }: Queued, hash: Buffer): QueuedWrite {
  const { key, value, ms, tie, expiresMs = 0, origin = null, isPreparedBallot = false } = write;
  const valueBytes = value?.length ?? 0;
  const isFreed = valueBytes >= FREED_BYTES_MIN;
  const bytes = Buffer.allocUnsafe(isFreed ? key.length : key.length + valueBytes);
  bytes.set(key, 0);
  const copied = isFreed ? Buffer.allocUnsafeSlow(valueBytes) : bytes.subarray(key.length);
  if (value !== null) copied.set(value, 0);
  return {
    partition,
    call,
    index,
    key: bytes.subarray(0, key.length),
    value: value === null ? null : copied,
    ms,
    tie,
    expiresMs,
    origin,
    isPreparedBallot: isPreparedBallot,
    hash,
    isFreed,
  };
}
