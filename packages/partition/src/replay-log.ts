// Brings the log's writes into the partition files after a crash. Safe to repeat: last write wins
// by stamp.
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { LogPartition } from './log-entries.ts';
import { listSegments, removeSegments, segmentFile } from './log-segment.ts';
import { damaged, type LoggedWrite, readSegment } from './read-segment.ts';

/** Writes of one partition given at once: one transaction in one turn, ~30 ms. */
const WRITES_AT_ONCE = 2_048;
const BYTES_AT_ONCE = 4 * 1024 * 1024;

/** Throws LOG_DAMAGED when a number is missing between the first and the last. */
export function checkContiguous(directory: string, segments: readonly number[]): void {
  for (const [index, number] of segments.entries()) {
    const expected = (segments[0] ?? 0) + index;
    if (number !== expected)
      throw damaged(segmentFile(directory, expected), 0, 'the file is missing');
  }
}

/**
 * Calls `apply` with all whole writes, those of one partition at a time and in the order they were
 * acknowledged, then cuts the torn tail. Resolves to the segments that remain.
 */
export async function replayLog(
  directory: string,
  apply: (writes: readonly LoggedWrite[], segment: number) => void,
): Promise<number[]> {
  const segments = await listSegments(directory);
  checkContiguous(directory, segments);
  const last = segments.at(-1);
  for (const number of segments) {
    const content = await readSegment(directory, number, number === last);
    for (const writes of byPartition(content.frames)) {
      apply(writes, number);
      // failpoint: replay.piece
      await setImmediate();
    }
    if (content.tornAt === 0) {
      await removeSegments(directory, [number]);
      return segments.slice(0, -1);
    }
    if (content.tornAt !== null) await cut(segmentFile(directory, number), content.tornAt);
  }
  return segments;
}

/**
 * The writes of a segment, partition by partition: the more rows of one partition a transaction
 * has, the more of them share a page of its WAL. Within a partition they keep their order, on which
 * their sequence numbers depend; between partitions there is none.
 */
function* byPartition(frames: readonly (readonly LoggedWrite[])[]): Iterable<LoggedWrite[]> {
  const groups = new Map<LogPartition, LoggedWrite[]>();
  for (const frame of frames) {
    for (const write of frame) {
      const group = groups.get(write.partition);
      if (group === undefined) groups.set(write.partition, [write]);
      else group.push(write);
    }
  }
  for (const group of groups.values()) yield* pieces(group);
}

function* pieces(group: readonly LoggedWrite[]): Iterable<LoggedWrite[]> {
  let piece: LoggedWrite[] = [];
  let bytes = 0;
  for (const write of group) {
    piece.push(write);
    bytes += write.bytes.length;
    if (piece.length < WRITES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield piece;
    [piece, bytes] = [[], 0];
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
