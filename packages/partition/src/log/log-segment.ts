// The files of the commit log: `<16 hex digits>.log`, numbered without gaps, removed lowest first.
import { randomBytes } from 'node:crypto';
import { constants, fdatasync, ftruncate, statSync, write, writev } from 'node:fs';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '@ringwright/base/assert';
import { CodedError } from '@ringwright/base/coded-error';
import { logFillBytes } from '@ringwright/base/limits-store';
import { syncDirectory } from '@ringwright/node/durable-files';
import { isRaised } from '@ringwright/node/durable-flag';
import { dataPaths } from '../file/data-paths.ts';
import { type FileIdentity, identityOf } from '../file/file-identity.ts';
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  filledBy,
  frameAt,
  saltBytes,
  segmentHeaderBytes,
} from './log-frame.ts';

export interface LogSegment {
  readonly number: number;
  readonly file: string;
  /** Identity of the file when it was created. */
  readonly identity: FileIdentity | null;
  readonly seed: number;
  readonly handle: FileHandle;
  /** Offset of the next frame. */
  bytes: number;
  /** Length of the file: zeros lie behind the last frame. */
  filled: number;
  /** Number of the next frame. */
  frames: number;
}

export function segmentFile(directory: string, number: number): string {
  return join(directory, `${number.toString(16).padStart(16, '0')}.log`);
}

assert(constants.O_DSYNC > 0, 'this system has writes that are durable when they return');
/** Each write is durable when it returns: one turn of the thread pool instead of two. */
const DURABLE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** Creates a segment. It is durable, with its directory entry, before any frame goes into it. */
export async function createSegment(directory: string, number: number): Promise<LogSegment> {
  const file = segmentFile(directory, number);
  const handle = await open(file, DURABLE_NEW, 0o600);
  const header = encodeSegmentHeader(number, randomBytes(saltBytes));
  try {
    await handle.write(header, 0, header.length, 0);
    await handle.sync();
    // failpoint: log.segment-created
    await syncDirectory(directory);
  } catch (error) {
    // Happens on a full disk. A segment without a header would be damage once another one follows.
    await handle.close();
    await unlink(file);
    throw error;
  }
  const seed = decodeSegmentHeader(header)?.seed ?? 0;
  const bytes = segmentHeaderBytes;
  const identity = identityOf(file);
  return { number, file, identity, seed, handle, bytes, filled: bytes, frames: 0 };
}

/**
 * Truncates the segment to its last frame: trailing zeros would be damage in any but the last
 * segment.
 */
export async function finishSegment({ handle, bytes, filled }: LogSegment): Promise<void> {
  if (filled > bytes) {
    await handle.truncate(bytes);
    await handle.sync();
  }
  await handle.close();
}

/** Returns the segment numbers in a log directory, ascending. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^[0-9a-f]{16}\.log$/.test(name))
    .map((name) => Number.parseInt(name.slice(0, 16), 16))
    .sort((a, b) => a - b);
}

/** Removes segments, lowest first, each durably before the next: a crash leaves no gap. */
export async function removeSegments(directory: string, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    await unlink(segmentFile(directory, number));
    // failpoint: log.segment-removed
    await syncDirectory(directory);
  }
}

const ZEROS = Buffer.alloc(logFillBytes);

/**
 * Appends a frame that has its checksum. The frame is durable when `done` is called without an
 * error. Small frames overwrite zeros that an earlier frame brought along: a file that grows costs
 * a commit of the file system's journal each time, twice the CPU and half the rate
 * (tools/bench/RESULTS.md).
 */
export function appendFrame(
  segment: LogSegment,
  frame: Buffer,
  done: (error: Error | null) => void,
): void {
  const { fd } = segment.handle;
  const position = segment.bytes;
  const end = position + frame.length;
  const filled = filledBy({ end, bytes: frame.length }, segment.filled);
  const bringsZeros = filled > Math.max(end, segment.filled);
  Object.assign(segment, { bytes: end, filled, frames: segment.frames + 1 });
  if (!bringsZeros) {
    writeAll(fd, { bytes: frame, position }, done);
    return;
  }
  writev(fd, [frame, ZEROS], position, (error, written) => {
    if (error !== null || position + written === filled) done(error);
    else if (written >= frame.length) lengthen(fd, filled, done);
    else {
      const remainder = { bytes: frame.subarray(written), position: position + written };
      writeAll(fd, remainder, (failed) =>
        failed === null ? lengthen(fd, filled, done) : done(failed),
      );
    }
  });
}

/**
 * Sets the length where the zeros did not fit; they become a hole. The length shows that nothing
 * was cut off.
 */
function lengthen(fd: number, length: number, done: (error: Error | null) => void): void {
  ftruncate(fd, length, (error) => (error === null ? fdatasync(fd, done) : done(error)));
}

function writeAll(
  fd: number,
  chunk: { bytes: Buffer; position: number },
  done: (error: Error | null) => void,
): void {
  const { bytes, position } = chunk;
  write(fd, bytes, 0, bytes.length, position, (error, written) => {
    if (error !== null) done(error);
    else if (written === bytes.length) done(null);
    else if (written === 0) done(new Error('the log file takes no more bytes'));
    else writeAll(fd, { bytes: bytes.subarray(written), position: position + written }, done);
  });
}

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

/**
 * `segments`: the log's segments. Throws LOG_DAMAGED when the log was in use and has none, or only
 * one without a header: a segment has its header before the log counts as in use, and before an
 * older one is removed.
 */
export function checkLogIsThere(root: string, segments: readonly number[]): void {
  const flag = dataPaths.logInUse(root);
  const [first] = segments;
  if (segments.length > 1 || !isRaised(flag)) return;
  const log = dataPaths.log(root);
  const file = first === undefined ? null : segmentFile(log, first);
  if (file !== null && statSync(file).size >= segmentHeaderBytes) return;
  const problem = file === null ? `${log} has no segments` : `${file} has no header`;
  throw new CodedError('LOG_DAMAGED', `the log was in use, but ${problem}`, {
    hint:
      'restore its files, or move the data directory aside and refill the device; ' +
      `if an older release was stopped cleanly in between, remove ${flag}`,
    details: { directory: log },
  });
}
