// Reads one segment of the commit log: its frames in order, and where it ends.
import { setImmediate } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { readOwnFile } from '@ringwright/node/read-regular-file';
import { type LogPartition, laterKind, visitEntries } from './log-entries.ts';
import {
  decodeSegmentHeader,
  filledBy,
  frameAt,
  frameBehind,
  isOtherForm,
  segmentHeaderBytes,
} from './log-frame.ts';
import { segmentFile } from './log-segment.ts';

/** Bytes decoded per turn of the event loop: ~20 ms of small records. */
const BYTES_PER_TURN = 2 * 1024 * 1024;

export interface SegmentContent {
  /** The whole file. */
  readonly bytes: Buffer;
  /** Where the torn tail starts, or null. 0: the segment was never finished and holds nothing. */
  readonly tornAt: number | null;
  readonly frames: number;
  /** Start and end of each entry in `bytes`, by partition, in log order. */
  readonly entries: ReadonlyMap<LogPartition, readonly number[]>;
}

/**
 * Only the end of the last segment may be torn: a frame is written after the previous one was
 * synced, and a torn segment is as long as its frames made it. Throws LOG_DAMAGED with file and
 * offset for anything else.
 */
export async function readSegment(
  directory: string,
  number: number,
  isLast: boolean,
): Promise<SegmentContent> {
  const file = segmentFile(directory, number);
  const segment = await readOwnFile(file);
  const header = decodeSegmentHeader(segment);
  if (header === null || header.number !== number) {
    const neverFinished = isLast && header === null && segment.length <= segmentHeaderBytes;
    if (isOtherForm(segment)) throw ofNewer(file, 0, 'a segment in another format');
    if (neverFinished) return { bytes: segment, tornAt: 0, frames: 0, entries: new Map() };
    throw damaged(file, 0, 'its header does not belong to this segment');
  }
  const places = new EntryPlaces();
  let frames = 0;
  const length = new KeptLength();
  let tornAt: number | null = null;
  let yieldedAt = 0;
  for (let offset = segmentHeaderBytes; offset < segment.length; ) {
    if (offset - yieldedAt > BYTES_PER_TURN) {
      yieldedAt = offset;
      await setImmediate();
    }
    const frame = frameAt(segment, offset, header.seed);
    if (frame === null) {
      if (!isLast) throw damaged(file, offset, 'a frame is damaged in a finished segment');
      const nextAt = frameBehind(segment, offset, header.seed);
      if (nextAt !== -1) {
        throw damaged(file, offset, `a frame is damaged, but an intact one follows at ${nextAt}`);
      }
      if (header.keepsLength && length.isCut(segment, offset)) {
        throw damaged(
          file,
          offset,
          `a frame is cut off, ${length.lacks(segment)} bytes are missing`,
        );
      }
      tornAt = offset;
      break;
    }
    if (frame.number !== frames) {
      throw damaged(file, offset, `frame ${frame.number} in the place of frame ${frames}`);
    }
    const start = frame.end - frame.payload.length;
    const unknownAt = places.add(frame.payload, start);
    if (unknownAt !== null) throw notUnderstood(file, offset, laterKind(frame.payload, unknownAt));
    frames += 1;
    length.follow(offset, frame.end);
    offset = frame.end;
  }
  return { bytes: segment, tornAt, frames, entries: places.found };
}

/** The length that a segment's whole frames give it; see appendFrame. */
class KeptLength {
  #filled = segmentHeaderBytes;
  /** Whether the last whole frame brought zeros: a crash may have cut off only those. */
  #isGrown = false;

  follow(start: number, end: number): void {
    const filled = filledBy({ end, bytes: end - start }, this.#filled);
    this.#isGrown = filled > Math.max(end, this.#filled);
    this.#filled = filled;
  }

  lacks(segment: Buffer): number {
    return this.#filled - segment.length;
  }

  /** Whether something other than a crash cut the end, if the bytes at `tornAt` are no frame. */
  isCut(segment: Buffer, tornAt: number): boolean {
    if (this.lacks(segment) <= 0) return false;
    // The next frame is written only after all of the previous one is on the disk.
    return !this.#isGrown || segment.subarray(tornAt).some((byte) => byte !== 0);
  }
}

/** Keeps offsets, not records: a segment of small records takes six times its size as objects. */
class EntryPlaces {
  readonly found = new Map<LogPartition, number[]>();
  readonly #dictionary = new Map<number, number[]>();

  /**
   * Takes a payload that starts at `base` in the segment. Returns where it stops being entries, or
   * null.
   */
  add(payload: Buffer, base: number): number | null {
    let allDefined = true;
    const unknownAt = visitEntries(payload, {
      define: (index, partition) => {
        const places: number[] = [];
        this.#dictionary.set(index, places);
        this.found.set(partition, places);
      },
      entry: (index, start, end) => {
        const places = this.#dictionary.get(index);
        if (places === undefined) allDefined = false;
        else places.push(base + start, base + end);
      },
    });
    return allDefined ? unknownAt : 0;
  }
}

/** The frame's checksum is right, so the bytes are as written. `kind`: from laterKind. */
function notUnderstood(file: string, offset: number, kind: number | null): CodedError {
  if (kind === null)
    return damaged(file, offset, 'a frame has an entry that no release can have written');
  return ofNewer(file, offset, `a frame with an entry of kind ${kind}`);
}

function ofNewer(file: string, offset: number, problem: string): CodedError {
  return new CodedError(
    'LOG_DAMAGED',
    `${file} at offset ${offset}: ${problem}, of a newer release`,
    {
      hint:
        'if one ran here, nothing is lost: start it on this directory, and stop it with SIGTERM ' +
        'after a minute; repeat this until it logs that all is in the partition files; ' +
        'then this release can start',
      details: { file, offset },
    },
  );
}

export function damaged(file: string, offset: number, problem: string): CodedError {
  return new CodedError('LOG_DAMAGED', `${file} at offset ${offset}: ${problem}`, {
    hint: 'acknowledged writes may be lost: move the data directory aside and refill the device',
    details: { file, offset },
  });
}
