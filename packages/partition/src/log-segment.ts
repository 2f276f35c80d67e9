// The files of the commit log: `<16 hex digits>.log`, numbered without gaps, the lowest removed
// first.
import { randomBytes } from 'node:crypto';
import { fdatasync, write } from 'node:fs';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from './durable-files.ts';
import { decodeSegmentHeader, encodeSegmentHeader, segmentHeaderBytes } from './log-frame.ts';

export interface LogSegment {
  readonly number: number;
  readonly seed: number;
  readonly handle: FileHandle;
  /** Where the next frame goes. */
  bytes: number;
  /** Number of the next frame. */
  frames: number;
}

export function segmentFile(directory: string, number: number): string {
  return join(directory, `${number.toString(16).padStart(16, '0')}.log`);
}

/** A new segment, durable with its directory entry before any frame goes into it. */
export async function createSegment(directory: string, number: number): Promise<LogSegment> {
  const handle = await open(segmentFile(directory, number), 'wx', 0o600);
  const header = encodeSegmentHeader(number, randomBytes(8));
  await handle.write(header, 0, header.length, 0);
  await handle.sync();
  // failpoint: log.segment-created
  await syncDirectory(directory);
  const seed = decodeSegmentHeader(header)?.seed ?? 0;
  return { number, seed, handle, bytes: segmentHeaderBytes, frames: 0 };
}

/** The segment numbers in a log directory, ascending. */
export async function listSegments(directory: string): Promise<number[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => /^[0-9a-f]{16}\.log$/.test(name))
    .map((name) => Number.parseInt(name.slice(0, 16), 16))
    .sort((a, b) => a - b);
}

/** Removes segments from the lowest on, each durably before the next: a crash leaves no gap. */
export async function removeSegments(directory: string, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    await unlink(segmentFile(directory, number));
    // failpoint: log.segment-removed
    await syncDirectory(directory);
  }
}

/** Appends a sealed frame: one write, one fdatasync, both in the thread pool. */
export function appendFrame(
  segment: LogSegment,
  frame: Buffer,
  done: (error: Error | null) => void,
): void {
  const { fd } = segment.handle;
  writeAll(fd, { bytes: frame, position: segment.bytes }, (error) => {
    if (error !== null) done(error);
    else fdatasync(fd, (failed) => done(failed));
  });
  segment.bytes += frame.length;
  segment.frames += 1;
}

function writeAll(
  fd: number,
  rest: { bytes: Buffer; position: number },
  done: (error: Error | null) => void,
): void {
  const { bytes, position } = rest;
  write(fd, bytes, 0, bytes.length, position, (error, written) => {
    if (error !== null) done(error);
    else if (written === bytes.length) done(null);
    else if (written === 0) done(new Error('the log file takes no more bytes'));
    else writeAll(fd, { bytes: bytes.subarray(written), position: position + written }, done);
  });
}
