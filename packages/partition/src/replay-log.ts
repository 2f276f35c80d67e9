// Brings the log's writes into the partition files after a crash. Safe to repeat: last write wins
// by stamp.
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { listSegments, removeSegments, segmentFile } from './log-segment.ts';
import { damaged, type LoggedWrite, readSegment } from './read-segment.ts';

/** Writes given at once, so that each partition's share fits one transaction and one short turn. */
const WRITES_AT_ONCE = 4_096;
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Throws LOG_DAMAGED when a number is missing between the first and the last. */
export function checkContiguous(directory: string, segments: readonly number[]): void {
  for (const [index, number] of segments.entries()) {
    const expected = (segments[0] ?? 0) + index;
    if (number !== expected)
      throw damaged(segmentFile(directory, expected), 0, 'the file is missing');
  }
}

/**
 * Calls `apply` with all whole writes in the order they were acknowledged, then cuts the torn tail.
 * Resolves to the segments that remain.
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
    for (const writes of gathered(content.frames)) {
      apply(writes, number);
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

/** Joins frames to larger pieces: fewer transactions per partition. */
function* gathered(frames: readonly (readonly LoggedWrite[])[]): Iterable<LoggedWrite[]> {
  let piece: LoggedWrite[] = [];
  let bytes = 0;
  for (const frame of frames) {
    for (const write of frame) {
      piece.push(write);
      bytes += write.bytes.length;
    }
    if (piece.length < WRITES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield piece;
    piece = [];
    bytes = 0;
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
