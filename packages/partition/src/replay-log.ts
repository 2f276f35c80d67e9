// Brings the log's writes into the partition files after a crash. Safe to repeat: last write wins
// by stamp.
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { LogPartition } from './log-entries.ts';
import { listSegments, removeSegments, segmentFile } from './log-segment.ts';
import { damaged, readSegment } from './read-segment.ts';
import { type DecodedRecord, decodeRecord } from './record-bytes.ts';

/** Writes of one partition given at once, in one turn of the event loop. */
const WRITES_AT_ONCE = 2_048;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/** A write as found in the log. */
export interface LoggedWrite {
  readonly record: DecodedRecord;
  /** The encoded record, over which the row hash is taken. */
  readonly bytes: Buffer;
}

export interface LoggedWrites {
  readonly partition: LogPartition;
  readonly writes: readonly LoggedWrite[];
  readonly segment: number;
}

/** Throws LOG_DAMAGED when a number is missing between the first and the last. */
export function checkContiguous(directory: string, segments: readonly number[]): void {
  for (const [index, number] of segments.entries()) {
    const expected = (segments[0] ?? 0) + index;
    if (number !== expected)
      throw damaged(segmentFile(directory, expected), 0, 'the file is missing');
  }
}

/**
 * Calls `apply` with all whole writes, then cuts the torn tail. Those of a segment come partition
 * by partition: the more rows of one partition are stored together, the more of them share a page
 * of its WAL. Within a partition they keep the order in which they were acknowledged, on which
 * their sequence numbers depend; between partitions there is none. Resolves to the segments that
 * remain.
 */
export async function replayLog(
  directory: string,
  apply: (writes: LoggedWrites) => void,
): Promise<number[]> {
  const segments = await listSegments(directory);
  checkContiguous(directory, segments);
  const last = segments.at(-1);
  for (const segment of segments) {
    const { bytes, writes, tornAt } = await readSegment(directory, segment, segment === last);
    for (const [partition, places] of writes) {
      for (const piece of pieces(bytes, places)) {
        apply({ partition, writes: piece, segment });
        await setImmediate();
      }
    }
    if (tornAt === 0) {
      await removeSegments(directory, [segment]);
      return segments.slice(0, -1);
    }
    if (tornAt !== null) await cut(segmentFile(directory, segment), tornAt);
  }
  return segments;
}

function* pieces(segment: Buffer, places: readonly number[]): Iterable<LoggedWrite[]> {
  let piece: LoggedWrite[] = [];
  let pieceBytes = 0;
  for (let at = 0; at < places.length; at += 2) {
    const [start = 0, end = 0] = [places[at], places[at + 1]];
    piece.push({ record: decodeRecord(segment, start, end), bytes: segment.subarray(start, end) });
    pieceBytes += end - start;
    if (piece.length < WRITES_AT_ONCE && pieceBytes < BYTES_AT_ONCE) continue;
    yield piece;
    [piece, pieceBytes] = [[], 0];
  }
  if (piece.length > 0) yield piece;
}

/** Before a new segment is begun: a torn end in a segment that is not the last would be damage. */
async function cut(file: string, offset: number): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.truncate(offset);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
