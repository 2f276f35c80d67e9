// Tests frames that write zeros ahead of later frames, on a disk without room for all the zeros.
import fs, { mkdtempSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logFillBytes } from '@ringwright/base/limits-store';
import { afterEach, expect, test } from 'vitest';
import { checksumFrame, frameHeaderBytes, segmentHeaderBytes } from './log-frame.ts';
import { appendFrame, createSegment } from './log-segment.ts';
import { readSegment } from './read-segment.ts';

const { writev } = fs;

afterEach(() => {
  fs.writev = writev;
  module.syncBuiltinESMExports();
});

type Call = readonly [
  fd: number,
  pieces: readonly Uint8Array[],
  position: number,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
];

/** Ends each write of several pieces after `bytes` bytes, as on a full disk. */
function roomFor(bytes: number): void {
  const short = (...[fd, pieces, position, done]: Call): void => {
    const all = Buffer.concat(pieces).subarray(0, bytes);
    fs.write(fd, all, 0, all.length, position, done);
  };
  fs.writev = short as typeof writev;
  module.syncBuiltinESMExports();
}

test.each([
  ['the frame and some of them', 600],
  ['half of the frame', 8],
])('zeros that do not fit on the disk become a hole: room for %s', async (_, room) => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const segment = await createSegment(directory, 1);
  const append = async (): Promise<void> => {
    const frame = Buffer.alloc(frameHeaderBytes);
    checksumFrame(frame, segment.frames, segment.seed);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    appendFrame(segment, frame, (error) => (error === null ? resolve() : reject(error)));
    await promise;
  };
  roomFor(room);
  await append();
  const first = segment.bytes;
  expect(statSync(segment.file).size).toBe(first + logFillBytes);
  await append();
  await segment.handle.close();
  expect(statSync(segment.file).size).toBe(first + logFillBytes);
  expect(first).toBe(segmentHeaderBytes + frameHeaderBytes);
  expect((await readSegment(directory, 1, true)).frames).toBe(2);
  fs.truncateSync(segment.file, segment.bytes - 1);
  const cut = readSegment(directory, 1, true);
  await expect(cut).rejects.toThrow('a frame is cut off');
  rmSync(directory, { recursive: true });
});
