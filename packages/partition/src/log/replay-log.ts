// Replays the log's writes into the partition files after a crash. Idempotent: of two records of a
// key, the higher stamp wins.
import { open } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { freeBytes } from '@ringwright/base/free-bytes';
import { decodeMarksChange } from '../file/marks-change.ts';
import { decodeRecord } from '../file/record-bytes.ts';
import type { OnStep } from '../file/start-step.ts';
import type { LoggedEntry } from './apply-writes.ts';
import { isChange, type LogPartition } from './log-entries.ts';
import { listSegments, removeSegments, segmentFile } from './log-segment.ts';
import { damaged, readSegment, type SegmentContent } from './read-segment.ts';

/** Entries of one partition applied at once, in one turn of the event loop. */
const ENTRIES_AT_ONCE = 2_048;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
/** Segments in memory at once; a log has fewer unless something held back its checkpoints. */
const SEGMENTS_AT_ONCE = 4;

interface LoggedEntries {
  readonly partition: LogPartition;
  /** Views into the bytes of segments, which stay unchanged until `applied` returns. */
  readonly entries: readonly LoggedEntry[];
  /** The oldest segment that may contain them. */
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

/** Receives all whole entries of a log. */
interface Replaying {
  /** Called with some entries of one partition, in the order in which they were acknowledged. */
  readonly apply: (entries: LoggedEntries) => void;
  /** Called after the last entries of this partition and lifetime, for the segments in memory. */
  readonly applied: (partition: LogPartition) => void;
  readonly onStep: OnStep;
}

/**
 * Passes on all whole entries, then cuts the torn tail. The entries of a few segments come
 * partition by partition: so a row that is rewritten is mostly stored once, rows share the pages of
 * a WAL, and only one partition has rows in memory. Sequences depend on the order within a
 * partition; between partitions the order does not matter. Resolves to the segments that remain.
 */
export async function replayLog(
  directory: string,
  { apply, applied, onStep }: Replaying,
): Promise<number[]> {
  const segments = await listSegments(directory);
  checkContiguous(directory, segments);
  const last = segments.at(-1);
  for (let at = 0; at < segments.length; at += SEGMENTS_AT_ONCE) {
    const contents: SegmentContent[] = [];
    for (const segment of segments.slice(at, at + SEGMENTS_AT_ONCE)) {
      contents.push(await readSegment(directory, segment, segment === last));
    }
    const doing = `replaying ${contents.length} of ${segments.length} segments of the commit log`;
    const found = [...partitionsIn(contents)];
    for (const [index, { partition, parts }] of found.entries()) {
      for (const entries of pieces(parts)) {
        apply({ partition, entries, segment: segments[at] ?? 0 });
        await setImmediate();
      }
      applied(partition);
      onStep({ doing, done: index + 1, partitions: found.length });
      await setImmediate();
    }
    // Hundreds of MiB, which the garbage collector would keep until memory runs out.
    for (const { bytes } of contents) freeBytes(bytes);
    const tornAt = contents.at(-1)?.tornAt ?? null;
    if (tornAt === null || last === undefined) continue;
    if (tornAt === 0) {
      await removeSegments(directory, [last]);
      return segments.slice(0, -1);
    }
    await cut(segmentFile(directory, last), tornAt);
  }
  return segments;
}

/** Places of one partition's entries in the bytes of a segment: see SegmentContent. */
interface Part {
  readonly bytes: Buffer;
  readonly places: readonly number[];
}

function partitionsIn(
  contents: readonly SegmentContent[],
): Iterable<{ readonly partition: LogPartition; readonly parts: readonly Part[] }> {
  const partsByName = new Map<string, { partition: LogPartition; parts: Part[] }>();
  for (const { bytes, entries } of contents) {
    for (const [partition, places] of entries) {
      const name = `${partition.keyspace}/${partition.partition}/${partition.life}`;
      const existing = partsByName.get(name);
      if (existing === undefined) partsByName.set(name, { partition, parts: [{ bytes, places }] });
      else existing.parts.push({ bytes, places });
    }
  }
  return partsByName.values();
}

function* pieces(parts: readonly Part[]): Iterable<LoggedEntry[]> {
  let piece: LoggedEntry[] = [];
  let pieceBytes = 0;
  for (const { bytes, places } of parts) {
    for (let at = 0; at < places.length; at += 2) {
      const [start = 0, end = 0] = [places[at], places[at + 1]];
      piece.push(
        isChange(bytes, start)
          ? { change: decodeMarksChange(bytes, start) }
          : decodeRecord(bytes, start, end),
      );
      pieceBytes += end - start;
      if (piece.length < ENTRIES_AT_ONCE && pieceBytes < BYTES_AT_ONCE) continue;
      yield piece;
      [piece, pieceBytes] = [[], 0];
    }
  }
  if (piece.length > 0) yield piece;
}

/** Runs before a new segment begins: a torn end in any but the last segment would be damage. */
async function cut(file: string, offset: number): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.truncate(offset);
  await handle.sync();
}
