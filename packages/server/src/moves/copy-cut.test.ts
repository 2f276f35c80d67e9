// Copies in chunks that are cut or changed on the way, at every class of bytes. A cut copy resumes,
// a wrong one is discarded, the source stays unchanged, and the other slots provide the file.
import { CodedError } from '@ringwright/base/coded-error';
import { transferChunkBytesMax } from '@ringwright/base/limits';
import { copyChunksAhead, copySourceFaultsMax } from '@ringwright/base/limits-copies';
import { seededRandom } from '@ringwright/base/random';
import { copyOpen, copyRead } from '@ringwright/wire/copies';
import { describe, expect, test } from 'vitest';
import type { StoreDevice } from '../../../../test/support/store-cluster.ts';
import { joiningDevice, load } from '../../test/support/joining-device.ts';

const chunk = transferChunkBytesMax;

/** Counts the snapshots that a device opens for copies, and the bytes that it sends. */
function counting(device: StoreDevice): { opens: number; bytes: number } {
  const counts = { opens: 0, bytes: 0 };
  device.onAnswer = (method, answer) => {
    if (method === copyOpen.method) counts.opens += 1;
    if (method === copyRead.method) counts.bytes += copyRead.answer.parse(answer).data.length;
    return answer;
  };
  return counts;
}

/** The device answers `count` reads of a chunk; every later read fails until `onCall` changes. */
function cutAt(device: StoreDevice, count: number): void {
  let left = count;
  device.onCall = (method) => {
    if (method !== copyRead.method || (left -= 1) >= 0) return;
    throw new CodedError('PEER_UNREACHABLE', 'the connection is closed');
  };
}

describe('a cut copy', () => {
  test.each([1, 2, 3, 6])('resumes where it was cut, after %i chunks', async (count) => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    const before = source.info(0);
    const counts = counting(source);
    cutAt(source, count);
    expect(await load(joiner)).toBe('COPY_CUT');
    source.onCall = () => undefined;
    await source.put(0, { late: 'written between' }, 9);
    expect(await load(joiner)).toBe('loaded');
    expect(counts.opens, 'number of snapshots').toBe(1);
    // Chunks that were requested ahead of the cut may have been read in vain.
    await using whole = await source.store.snapshot('cities', 0);
    expect(counts.bytes).toBeLessThan(whole.manifest.bytes + 5 * chunk);
    expect(joiner.info(0)).toMatchObject({ rows: 1_601, digest: source.info(0)?.digest });
    expect(before?.incarnation).toBe(source.info(0)?.incarnation);
  });

  test('gives the same file in the end, even if it is cut again and again', async () => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    const counts = counting(source);
    const random = seededRandom(6);
    let [cuts, answer] = [0, ''];
    do {
      cutAt(source, 1 + random.below(3));
      answer = await load(joiner);
      cuts += answer === 'COPY_CUT' ? 1 : 0;
    } while (answer === 'COPY_CUT');
    expect(answer).toBe('loaded');
    expect(cuts).toBeGreaterThan(1);
    expect(counts.opens).toBe(1);
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  });

  test('is not cut by a line on which a chunk waits behind those requested before it', async () => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    const counts = counting(source);
    const chunkMs = (chunk * 8) / 1_000; // at 1 Mbit/s
    source.onCall = (method, timeoutMs) => {
      if (method !== copyRead.method || timeoutMs > copyChunksAhead * chunkMs) return;
      throw new CodedError('PEER_TIMEOUT', 'no answer in time');
    };
    expect(await load(joiner)).toBe('loaded');
    expect(counts.bytes, 'bytes from the source, not from the other slots').toBeGreaterThan(chunk);
  });

  test('starts again if the source has closed its snapshot', async () => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    const counts = counting(source);
    cutAt(source, 3);
    expect(await load(joiner)).toBe('COPY_CUT');
    source.onCall = () => undefined;
    await source.copies.close();
    expect(await load(joiner)).toBe('loaded');
    expect(counts.opens).toBe(2);
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  });

  test('comes from the other slots if the source is gone at the next attempt', async () => {
    await using place = await joiningDevice();
    const { cluster, source, joiner } = place;
    cutAt(source, 3);
    expect(await load(joiner)).toBe('COPY_CUT');
    source.up = false;
    expect(await load(joiner)).toBe('loaded');
    expect(joiner.info(0)?.digest).toBe(cluster.devices[0]!.info(0)?.digest);
    await joiner.partial.discardUnless('cities', () => true);
  });

  test('is not resumed for another move', async () => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    cutAt(source, 3);
    expect(await load(joiner)).toBe('COPY_CUT');
    const name = { keyspace: 'cities', partition: 0, assignment: 99, source: 2 };
    expect(await joiner.partial.take(name)).toBeNull();
    expect(
      await joiner.partial.take({ ...name, assignment: 1 }),
      'the partial copy was discarded',
    ).toBeNull();
  });
});

type Bend = (data: Buffer, offset: number, total: number) => Buffer;

const flipAt =
  (where: (total: number) => number): Bend =>
  (data, offset, total) => {
    const at = where(total) - offset;
    if (at < 0 || at >= data.length) return data;
    const bent = Buffer.from(data);
    bent[at] = (bent[at] ?? 0) ^ 1;
    return bent;
  };
const inChunk =
  (number: number, change: (data: Buffer) => Buffer): Bend =>
  (data, offset) =>
    offset === number * chunk ? change(data) : data;

const bends: readonly (readonly [what: string, bend: Bend])[] = [
  ['the first byte', flipAt(() => 0)],
  ['a byte of the header', flipAt(() => 27)],
  ['a byte of the schema', flipAt(() => 4_090)],
  ['a byte in the middle', flipAt((total) => Math.floor(total / 2))],
  ['the last byte of a chunk', flipAt(() => chunk - 1)],
  ['the first byte of a chunk', flipAt(() => 2 * chunk)],
  ['the last byte', flipAt((total) => total - 1)],
  ['a chunk that is short', inChunk(1, (data) => data.subarray(1))],
  ['a chunk that is empty', inChunk(2, (data) => data.subarray(data.length))],
  ['a chunk with other bytes', inChunk(3, (data) => Buffer.from(data).reverse())],
  [
    'the end that is missing',
    (data, offset, total) => (offset + data.length >= total ? data.subarray(0, -1) : data),
  ],
];

describe('a copy that was changed on the way', () => {
  test.each(bends)('is discarded, retried, and taken from others: %s', async (...[, bend]) => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    await joiner.put(0, { own: 'kept' }, 9);
    const [sourceBefore, before] = [source.info(0), joiner.info(0)];
    let [offset, total] = [0, 0];
    source.onCall = () => undefined;
    source.onAnswer = (method, answer) => {
      if (method === copyOpen.method) [offset, total] = [0, copyOpen.answer.parse(answer).bytes];
      if (method !== copyRead.method) return answer;
      // Chunks are requested and answered in order, so their lengths add up to the offset.
      const data = Buffer.from(copyRead.answer.parse(answer).data);
      const bent = bend(data, offset, total);
      offset += data.length;
      return { data: bent };
    };
    for (let faults = 0; faults + 1 < copySourceFaultsMax; faults += 1) {
      expect(await load(joiner, faults)).toBe('COPY_INVALID');
      expect(joiner.info(0)).toEqual(before);
    }
    expect(await load(joiner, copySourceFaultsMax - 1)).toBe('loaded');
    expect(source.info(0)).toEqual(sourceBefore);
    expect(joiner.info(0)?.rows).toBe(1_601);
    expect([joiner.value(0, 'own'), joiner.value(0, 'key-9')]).toEqual(['kept', 'x'.repeat(1_000)]);
  });

  test('is discarded and retried if its keyed checksum differs', async () => {
    await using place = await joiningDevice();
    const { source, joiner } = place;
    const before = joiner.info(0);
    source.onAnswer = (method, answer) =>
      method === copyOpen.method
        ? { ...copyOpen.answer.parse(answer), seal: '0'.repeat(64) }
        : answer;
    expect(await load(joiner)).toBe('COPY_INVALID');
    expect(joiner.info(0)).toEqual(before);
    source.onAnswer = (_method, answer) => answer;
    expect(await load(joiner, 1)).toBe('loaded');
    expect(joiner.info(0)?.digest).toBe(source.info(0)?.digest);
  });

  test('is not requested again from a source that has sent too many', async () => {
    await using place = await joiningDevice();
    const counts = counting(place.source);
    expect(await load(place.joiner, copySourceFaultsMax)).toBe('loaded');
    expect(counts.opens).toBe(0);
  });
});
