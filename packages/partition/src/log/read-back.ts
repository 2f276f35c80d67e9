// Checks whether a log segment still has what was written to it. A truncated file gets its length
// back with the next frame, which goes to its planned offset; zeros lie before it.
import { open } from 'node:fs/promises';
import { decodeSegmentHeader, frameAt, segmentHeaderBytes } from './log-frame.ts';
import type { LogSegment } from './log-segment.ts';

/** Position of a durable frame in its segment. */
export interface DurableFrame {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads the header and one frame through the file's name, in the thread pool. It detects a
 * truncation that took either. Resolves to null when both are there.
 */
export async function whyEmptied(
  { file, seed }: Pick<LogSegment, 'file' | 'seed'>,
  frame: DurableFrame | null,
): Promise<string | null> {
  await using handle = await open(file, 'r');
  const header = Buffer.alloc(segmentHeaderBytes);
  await handle.read(header, 0, header.length, 0);
  if (decodeSegmentHeader(header)?.seed !== seed) return `${file} has lost its header`;
  if (frame === null) return null;
  const found = Buffer.alloc(frame.bytes);
  await handle.read(found, 0, found.length, frame.offset);
  if (frameAt(found, 0, seed) !== null) return null;
  return `${file} has lost what was written at offset ${frame.offset}`;
}
