// Reads one segment of the commit log: its frames in order, and where it ends.
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { decodeEntries, type LogEntry, type LogPartition } from './log-entries.ts';
import { decodeSegmentHeader, frameAt, frameBehind, segmentHeaderBytes } from './log-frame.ts';
import { segmentFile } from './log-segment.ts';
import type { DecodedRecord } from './record-bytes.ts';

/** Decoded in one turn of the event loop: ~20 ms of small records. */
const BYTES_PER_TURN = 2 * 1024 * 1024;

/** A write as found in the log. */
export interface LoggedWrite {
  readonly partition: LogPartition;
  readonly record: DecodedRecord;
  readonly bytes: Buffer;
}

export interface SegmentContent {
  readonly bytes: number;
  /** Where the torn tail starts, or null. 0: the segment was never finished and holds nothing. */
  readonly tornAt: number | null;
  readonly frames: readonly (readonly LoggedWrite[])[];
}

/**
 * Only the end of the last segment may be torn: a frame is written after the one before it was
 * synced. Throws LOG_DAMAGED with file and offset for anything else.
 */
export async function readSegment(
  directory: string,
  number: number,
  isLast: boolean,
): Promise<SegmentContent> {
  const file = segmentFile(directory, number);
  const segment = await readFile(file);
  const header = decodeSegmentHeader(segment);
  if (header === null || header.number !== number) {
    const neverFinished = isLast && header === null && segment.length <= segmentHeaderBytes;
    if (neverFinished) return { bytes: segment.length, tornAt: 0, frames: [] };
    throw damaged(file, 0, 'its header is not one of this segment');
  }
  const frames: LoggedWrite[][] = [];
  const dictionary = new Map<number, LogPartition>();
  let offset = segmentHeaderBytes;
  let yieldedAt = 0;
  while (offset < segment.length) {
    if (offset - yieldedAt > BYTES_PER_TURN) {
      yieldedAt = offset;
      await setImmediate();
    }
    const frame = frameAt(segment, offset, header.seed);
    if (frame === null) {
      if (!isLast) throw damaged(file, offset, 'a frame is damaged in a segment that was finished');
      const behind = frameBehind(segment, offset, header.seed);
      if (behind === -1) return { bytes: segment.length, tornAt: offset, frames };
      throw damaged(file, offset, `a frame is damaged, and a whole one follows at ${behind}`);
    }
    if (frame.number !== frames.length) {
      throw damaged(file, offset, `frame ${frame.number} where ${frames.length} belongs`);
    }
    const writes = frameWrites(frame.payload, dictionary);
    if (writes === null) throw damaged(file, offset, 'a frame holds what no program of ours wrote');
    frames.push(writes);
    offset = frame.end;
  }
  return { bytes: segment.length, tornAt: null, frames };
}

function frameWrites(payload: Buffer, dictionary: Map<number, LogPartition>): LoggedWrite[] | null {
  const entries: LogEntry[] | null = decodeEntries(payload);
  if (entries === null) return null;
  const writes: LoggedWrite[] = [];
  for (const entry of entries) {
    if (entry.kind === 'define') {
      dictionary.set(entry.index, entry);
      continue;
    }
    const partition = dictionary.get(entry.index);
    if (partition === undefined) return null;
    writes.push({ partition, record: entry.record, bytes: entry.bytes });
  }
  return writes;
}

export function damaged(file: string, offset: number, what: string): CodedError {
  return new CodedError('LOG_DAMAGED', `${file} at offset ${offset}: ${what}`, {
    hint: 'acknowledged writes may be lost: move the data directory aside, refill the device',
    details: { file, offset },
  });
}
