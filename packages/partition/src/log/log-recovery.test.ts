// Tests the recovery of the commit log from segments that are torn, cut or damaged, and of stores
// whose WALs are lost.
import { appendFileSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { logFillBytes } from '@ringwright/base/limits-store';
import { beforeAll, describe, expect, test } from 'vitest';
import { cutWals, logFiles, scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { checkStore } from '../audit/check-store.ts';
import { checksumFrame, frameAt, frameHeaderBytes, segmentHeaderBytes } from './log-frame.ts';
import { readSegment } from './read-segment.ts';

const KEYS = ['a', 'b', 'c', 'd', 'e'];
const place = scratch();
let log = '';
/** The segment, up to the end of its last frame. */
let bytes = Buffer.alloc(0);
/** The start of each frame, and the end of the last one. */
const starts: number[] = [];

beforeAll(async () => {
  const store = await place.openReady();
  for (const [index, key] of KEYS.entries()) await store.write([write(key, `v${key}`, index + 1)]);
  log = logFiles(place.directory)[0] ?? '';
  bytes = readFileSync(log);
  const seed = bytes.readUInt32BE(segmentHeaderBytes - 4);
  let frame = { end: segmentHeaderBytes };
  for (
    let next: typeof frame | null = frame;
    next !== null;
    next = frameAt(bytes, frame.end, seed)
  ) {
    starts.push(next.end);
    frame = next;
  }
  expect(bytes.length, 'zeros follow the last frame').toBe(frame.end + logFillBytes - spent());
  bytes = bytes.subarray(0, frame.end);
  expect(starts).toHaveLength(KEYS.length + 1);
  return async () => place[Symbol.asyncDispose]();
});

/** Bytes of the zeros that later frames have overwritten. The first frame wrote the zeros. */
function spent(): number {
  return (starts.at(-1) ?? 0) - (starts[1] ?? 0);
}

/** The log after a power loss replaced all bytes after `length` by `behind` and zeros. */
function tornAt(length: number, behind: Buffer = Buffer.alloc(0)): Buffer {
  const zeros = Buffer.alloc(bytes.length + logFillBytes - spent() - length - behind.length);
  return Buffer.concat([bytes.subarray(0, length), behind, zeros]);
}

/** Returns how far the log is as written. A frame whose lost bytes were zeros is still whole. */
function endOfLog(torn: Buffer): number {
  const at = bytes.findIndex((byte, index) => byte !== torn[index]);
  return at === -1 ? bytes.length : at;
}

/** Returns how many frames are read from a log with these bytes, or the error code. */
async function framesOf(content: Buffer): Promise<number | string> {
  await using image = scratch();
  image.damaged();
  const file = `${image.directory}/0000000000000001.log`;
  writeFileSync(file, content);
  try {
    return (await readSegment(dirname(file), 1, true)).frames;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
  }
}

describe('one segment', () => {
  test('a segment that is torn at any byte keeps every frame before it', async () => {
    for (let length = segmentHeaderBytes; length <= bytes.length; length += 1) {
      const torn = tornAt(length);
      const whole = starts.filter((start) => start <= endOfLog(torn)).length - 1;
      expect(await framesOf(torn), `zeros from ${length}`).toBe(whole);
    }
  });

  test('a cut inside a later frame than the first is damage: the frame was on disk', async () => {
    const [, first = 0] = starts;
    for (let length = 0; length <= bytes.length; length += 1) {
      const whole = starts.filter((start) => start <= length).length - 1;
      // The first frame writes the zeros. It is not acknowledged before all of them are written.
      const isKept = starts.includes(length) || length < first;
      const wanted = isKept ? Math.max(0, whole) : 'LOG_DAMAGED';
      expect(await framesOf(bytes.subarray(0, length)), `cut at ${length}`).toBe(wanted);
    }
    const zeros = Buffer.concat([bytes.subarray(0, first), Buffer.alloc(5_000)]);
    expect(await framesOf(zeros), 'a crash in the middle of the zeros').toBe(1);
  });

  test('a segment of a newer release is refused, and the hint says how to continue', async () => {
    const seed = bytes.readUInt32BE(segmentHeaderBytes - 4);
    const [header, first] = [
      bytes.subarray(0, segmentHeaderBytes),
      bytes.subarray(segmentHeaderBytes, starts[1]),
    ];
    const kind = Buffer.from(first);
    kind[frameHeaderBytes] = 4;
    checksumFrame(kind, 0, seed);
    const magic = Buffer.from(header);
    magic.write('RWLOG002', 'latin1');
    await using image = scratch();
    image.damaged();
    const file = `${image.directory}/0000000000000001.log`;
    for (const [later, what] of [
      [[header, kind], 'a frame with an entry of kind 4'],
      [[magic, first], 'a segment in another format'],
      [[magic], 'a segment in another format'],
    ] as const) {
      writeFileSync(file, Buffer.concat(later));
      await expect(readSegment(dirname(file), 1, true)).rejects.toMatchObject({
        code: 'LOG_DAMAGED',
        message: expect.stringContaining(`${what}, of a newer release`),
        hint: expect.stringContaining(
          'repeat this until it logs that all is in the partition files',
        ),
      });
    }
  });

  test('a segment of an older release may be cut: its length is unknown', async () => {
    const header = Buffer.from(bytes.subarray(0, segmentHeaderBytes));
    header.fill(7, 16, 24);
    header.writeUInt32BE(crc32(header.subarray(0, 24)), 24);
    const torn = bytes.subarray(segmentHeaderBytes, (starts[1] ?? 0) - 1);
    expect(await framesOf(Buffer.concat([header, torn]))).toBe(0);
    const whole = Buffer.from(bytes.subarray(segmentHeaderBytes, starts[1]));
    checksumFrame(whole, 0, header.readUInt32BE(24));
    const next = Buffer.concat([header, whole, bytes.subarray(starts[1], (starts[2] ?? 0) - 1)]);
    expect(await framesOf(next)).toBe(1);
  });

  test('a flipped bit in any byte of the last frame drops only this frame', async () => {
    for (let at = starts.at(-2) ?? 0; at < bytes.length; at += 1) {
      const flipped = tornAt(bytes.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(await framesOf(flipped), `flip at ${at}`).toBe(KEYS.length - 1);
    }
  });

  test('a flipped bit before the last frame is damage, never a shorter log', async () => {
    for (let at = 0; at < (starts.at(-2) ?? 0); at += 1) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(await framesOf(flipped), `flip at ${at}`).toBe('LOG_DAMAGED');
    }
  });

  test('garbage or zeros after the last frame are a torn tail', async () => {
    for (const tail of [
      Buffer.alloc(5_000),
      Buffer.alloc(300, 0x52),
      Buffer.from('RWF1RWF1RWF1'),
    ]) {
      expect(await framesOf(tornAt(bytes.length, tail))).toBe(KEYS.length);
    }
  });
});

describe('a store without its WALs, as after a power loss', () => {
  test('the log restores all rows with the same sequence numbers', async () => {
    await using image = place.image();
    cutWals(image.directory, () => 0);
    const store = await image.open();
    for (const key of KEYS) expect(textOf(store, key)).toBe(`v${key}`);
    expect(store.info('test', 0)).toMatchObject({ seq: KEYS.length, rows: KEYS.length });
  });

  // The tests above read a log that is torn at any byte. This one opens a store on some of them.
  test('a log that is torn in its last two frames keeps every frame before the tear', async () => {
    const from = starts.at(-3) ?? 0;
    const every = Array.from({ length: bytes.length - from }, (_, at) => from + at);
    const isNear = (length: number): boolean =>
      starts.some((start) => Math.abs(start - length) <= 1);
    for (const length of every.filter((one, at) => at % 7 === 0 || isNear(one))) {
      await using image = place.image();
      cutWals(image.directory, () => 0);
      writeFileSync(logFiles(image.directory)[0] ?? '', tornAt(length));
      const store = await image.open();
      const whole = starts.filter((start) => start <= length).length - 1;
      expect(store.info('test', 0), `cut at ${length}`).toMatchObject({ seq: whole });
      // The torn tail is removed: it does not return after new writes and another crash.
      await store.write([write('new', 'x', 100)]);
      await using second = image.image();
      cutWals(second.directory, () => 0);
      expect(textOf(await second.open(), 'new')).toBe('x');
    }
  });

  test('the log and any part of a WAL restore the same rows and sequence numbers', async () => {
    await using many = scratch();
    // No checkpoint in this store: none of its WAL bytes has ever been synced.
    const store = await many.openReady();
    for (let ms = 1; ms <= 60; ms += 1) {
      await store.write([write(`k${(ms * 7) % 11}`, 'v'.repeat((ms * 331) % 3_000), ms)]);
    }
    const info = store.info('test', 0);
    for (let percent = 0; percent <= 100; percent += 2) {
      await using image = many.image();
      cutWals(image.directory, (size) => Math.floor((size * percent) / 100));
      expect((await image.open()).info('test', 0), `${percent} % kept`).toEqual(info);
    }
  }, 60_000);

  test('damage before the tail is reported with its offset, and changes nothing', async () => {
    await using image = place.image();
    image.damaged();
    const file = logFiles(image.directory)[0] ?? '';
    const damaged = Buffer.from(bytes);
    const at = (starts[1] ?? 0) + 20;
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(file, damaged);
    await expect(image.open()).rejects.toMatchObject({
      code: 'LOG_DAMAGED',
      details: { offset: starts[1] },
    });
    expect(readFileSync(file).equals(damaged)).toBe(true);
    writeFileSync(file, bytes);
    expect(textOf(await image.open(), 'e')).toBe('ve');
  });

  test('zeros may follow the last frame in the current segment only', async () => {
    await using many = scratch();
    const store = await many.openReady({ logSegmentBytesMax: 512, logSegmentsBehindMax: 100 });
    for (let ms = 1; ms <= 12; ms += 1) await store.write([write('k', 'v'.repeat(90), ms)]);
    await using image = many.image();
    const files = logFiles(image.directory);
    const sizes = files.map((file) => statSync(file).size);
    expect(sizes.slice(0, -1).every((size) => size < logFillBytes)).toBe(true);
    expect(sizes.at(-1)).toBeGreaterThan(logFillBytes);
    cutWals(image.directory, () => 0);
    expect((await image.open()).info('test', 0)).toEqual(store.info('test', 0));
  });

  test('a missing log is damage after a kill, but not after a clean close', async () => {
    await using one = scratch();
    const store = await one.openReady();
    await store.write([write('k', 'v', 1)]);
    await using image = one.image();
    const files = logFiles(image.directory).map((file) => [file, readFileSync(file)] as const);
    rmSync(join(image.directory, 'log'), { recursive: true });
    const refusal = { code: 'LOG_DAMAGED', message: expect.stringContaining('no segment') };
    await expect(image.open()).rejects.toMatchObject(refusal);
    await expect(image.open(), 'the second attempt').rejects.toMatchObject(refusal);
    expect(await checkStore(image.directory)).toMatchObject([{ code: 'LOG_DAMAGED' }]);
    for (const [file, content] of files) writeFileSync(file, content);
    const whole = await image.open();
    expect(textOf(whole, 'k')).toBe('v');
    await whole.close();
    rmSync(join(image.directory, 'log'), { recursive: true });
    expect(textOf(await image.open(), 'k'), 'closed cleanly').toBe('v');
  });

  test('an emptied log is damage after a kill; one that was never used is not', async () => {
    await using one = scratch();
    const store = await one.open();
    await store.create('test', 0, 'ready');
    await store.write([write('k', 'v', 1)]);
    await using image = one.image();
    const [file = ''] = logFiles(image.directory);
    const content = readFileSync(file);
    for (const length of [0, segmentHeaderBytes - 1]) {
      writeFileSync(file, content.subarray(0, length));
      const refusal = { code: 'LOG_DAMAGED', message: expect.stringContaining('has no header') };
      await expect(image.open(), `${length} bytes`).rejects.toMatchObject(refusal);
      expect(await checkStore(image.directory)).toMatchObject([{ code: 'LOG_DAMAGED' }]);
    }
    writeFileSync(file, content);
    const whole = await image.open();
    expect(textOf(whole, 'k')).toBe('v');
    await whole.close();
    // A start that was killed while it created its first segment.
    writeFileSync(file, content.subarray(0, segmentHeaderBytes - 1));
    expect(textOf(await image.open(), 'k'), 'closed cleanly before').toBe('v');
  });

  test('a torn tail in a segment that is not the last is damage', async () => {
    await using many = scratch();
    const store = await many.openReady({ logSegmentBytesMax: 512, logSegmentsBehindMax: 100 });
    for (let ms = 1; ms <= 12; ms += 1) await store.write([write('k', 'v'.repeat(90), ms)]);
    await using image = many.image();
    image.damaged();
    const [first = ''] = logFiles(image.directory);
    expect(logFiles(image.directory).length).toBeGreaterThan(1);
    appendFileSync(first, 'torn');
    await expect(image.open()).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  });
});
