// Tests small partitions that travel as one message: the file that is created from it, what a crash
// leaves, and damaged messages.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '@ringwright/base/assert';
import { smallPartitionBytesMax, smallPartitionRowsMax } from '@ringwright/base/limits-copies';
import { seededRandom } from '@ringwright/base/random';
import { expect, test, vi } from 'vitest';
import { type Scratch, scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { spyAround } from '../../test/support/spy-around.ts';
import { EmptyPartitions } from '../file/empty-partitions.ts';
import type { PartitionState } from '../file/partition-info.ts';
import type { Write } from '../file/record.ts';
import { SideProcess } from '../side/side-process.ts';
import type { Store } from '../store.ts';
import type { PackedPartition } from './packed-partition.ts';

const place = { keyspace: 'test', partition: 0 };

async function stores(
  from: Scratch,
  to: Scratch,
  state: PartitionState = 'filling',
): Promise<[Store, Store]> {
  const [source, target] = [await from.open(), await to.open()];
  await source.create('test', 0, 'ready');
  await target.create('test', 0, state);
  return [source, target];
}

const pack = (store: Store): PackedPartition => must(store.copies.pack(place), 'it is small');

const some = Array.from({ length: 9 }, (_, i) => write(`key-${i}`, `value ${i}`, 10 + i));

/** Writes records to the file and then replaces some, so that a part of the rows waits in memory. */
async function fill(source: Store): Promise<void> {
  const unusual: Write[] = [
    { ...write('expires', 'soon', 40), expiresMs: 1_000 },
    { ...write('again', 'as before', 41), origin: { ms: 7, tie: 3 } },
    write('empty', '', 42),
    write('gone', null, 43),
  ];
  await source.write([...some, ...unusual]);
  await source.scrub('test', 0);
  await source.write([
    write('key-1', 'newer', 50),
    write('key-2', null, 51),
    write('new', 'n', 52),
  ]);
}

async function expectSame(source: Store, target: Store): Promise<void> {
  const { digest, rows, tombstones, bytes, floorMs } = source.info('test', 0)!;
  expect(target.info('test', 0)).toMatchObject({ digest, rows, tombstones, bytes, floorMs });
  expect((await target.scrub('test', 0)).findings).toEqual([]);
}

test('every kind of record arrives, from file or memory, in a new incarnation', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  await fill(source);
  await target.copies.unpack(pack(source));
  await expectSame(source, target);
  expect(target.info('test', 0)?.state).toBe('filling');
  expect(target.info('test', 0)?.incarnation).not.toBe(source.info('test', 0)?.incarnation);
  for (const key of ['expires', 'again', 'empty', 'gone', 'key-1', 'key-2', 'key-3']) {
    const [there, here] = [source, target].map((store) => store.read('test', 0, Buffer.from(key)));
    expect({ ...here, seq: 0 }, key).toEqual({ ...there, seq: 0 });
  }
  expect(target.highestMs()).toBe(52);
});

test('the floor and the barrier of the source apply to the unpacked partition', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  await source.write(some);
  await source.raiseBarrier('test', 0, 30);
  await source.raiseFloor('test', 0, 12);
  await target.copies.unpack(pack(source));
  await expectSame(source, target);
  expect(target.info('test', 0)).toMatchObject({ floorMs: 12, barrierMs: 30 });
});

test('an empty partition can be packed, with or without a floor', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  expect(pack(source)).toMatchObject({ seq: 0, rows: 0, floorMs: 0, records: new Uint8Array() });
  await source.raiseBarrier('test', 0, 9);
  await source.raiseFloor('test', 0, 9);
  await target.copies.unpack(pack(source));
  await expectSame(source, target);
  expect(target.info('test', 0)).toMatchObject({ floorMs: 9, barrierMs: 9 });
});

test.each<[string, PartitionState]>([
  ['a partition without a file', 'filling'],
  ['a partition with a file', 'lost'],
])('rows of %s are merged, except those below the floor', async (...[, state]) => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to, state);
  await source.write(some);
  await source.raiseBarrier('test', 0, 30);
  await source.raiseFloor('test', 0, 30);
  await target.write([write('deleted once', 'old', 20), write('key-0', 'newer', 60)]);
  if (state === 'lost') await target.scrub('test', 0);
  const before = target.info('test', 0)!.incarnation;
  await target.copies.unpack(pack(source));
  expect(textOf(target, 'deleted once')).toBeUndefined();
  expect(textOf(target, 'key-0')).toBe('newer');
  const { incarnation } = target.info('test', 0)!;
  expect(target.info('test', 0)).toMatchObject({ rows: 9, floorMs: 30, state });
  expect(incarnation).not.toBe(before);
});

test.each<[string, Write[]]>([
  ['records', Array.from({ length: smallPartitionRowsMax + 1 }, (_, i) => write(`k${i}`, 'v', 1))],
  [
    'deletions',
    Array.from({ length: smallPartitionRowsMax + 1 }, (_, i) => write(`k${i}`, null, 1)),
  ],
  ['bytes of values', [write('k', 'v'.repeat(smallPartitionBytesMax + 1), 1)]],
  [
    'bytes of keys',
    Array.from({ length: 100 }, (_, i) => write(`${i}`.padStart(900, 'k'), 'v'.repeat(500), 1)),
  ],
])('a partition with too many %s is not small', async (...[, writes]) => {
  await using from = scratch();
  await using to = scratch();
  const [source] = await stores(from, to);
  await source.write(writes);
  expect(source.copies.pack(place)).toBeNull();
});

test('a crash while unpacking leaves an empty or the complete partition', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  await fill(source);
  const images: Scratch[] = [];
  const take = (): void => void images.push(to.image());
  spyAround(SideProcess.prototype, 'make', { after: take });
  spyAround(EmptyPartitions.prototype, 'remove', { before: take, after: take });
  await target.copies.unpack(pack(source));
  vi.restoreAllMocks();
  expect(images).toHaveLength(3);
  const [made, ...placed] = await Promise.all(images.map((image) => image.open()));
  expect(made?.info('test', 0)).toMatchObject({ rows: 0, state: 'filling' });
  expect(readdirSync(join(must(images[0], 'one').directory, 'staging'))).toEqual([]);
  for (const store of placed) await expectSame(source, store);
});

const seed = Number(process.env['SEED'] ?? Date.now() % 1e6);

const replay = `SEED=${seed} npx vitest run packed-partition`;

test(`damaged records are refused and change nothing (${replay})`, async () => {
  await using from = scratch();
  await using to = scratch();
  const random = seededRandom(seed);
  const [source, target] = await stores(from, to);
  await fill(source);
  await target.write([write('mine', 'kept', 5)]);
  const [packed, before] = [pack(source), target.info('test', 0)];
  const bent = (): Uint8Array => {
    const bytes = Buffer.from(packed.records);
    const at = random.below(bytes.length);
    if (random.below(4) === 0) return bytes.subarray(0, at);
    // Less than the first record: a whole record that comes twice changes nothing.
    if (random.below(4) === 0) return Buffer.concat([bytes, bytes.subarray(0, 1 + (at % 16))]);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    return bytes;
  };
  for (let i = 0; i < 60; i += 1) {
    const refused = target.copies.unpack({ ...packed, records: bent() });
    await expect(refused).rejects.toMatchObject({ code: 'COPY_INVALID' });
  }
  expect(target.info('test', 0)).toEqual(before);
  expect(readdirSync(join(to.directory, 'staging'))).toEqual([]);
  await target.copies.unpack(packed);
  expect(textOf(target, 'mine')).toBe('kept');
  expect(textOf(target, 'key-8')).toBe('value 8');
});
