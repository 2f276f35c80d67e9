// Whether a segment of the log still has what was written to it. A file that was cut gets its
// length again with the next frame, which goes to its old place: zeros lie before it.
import { open } from 'node:fs/promises';
import { decodeSegmentHeader, frameAt, segmentHeaderBytes } from './log-frame.ts';
import type { LogSegment } from './log-segment.ts';

/** Where a frame that is durable lies in its segment. */
export interface DurableFrame {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads the header and a frame through the name, in the thread pool: so a cut is seen that took one
 * of them. Null when both are there.
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
