// Tests a copy that becomes the first file of its partition: what a crash leaves, that writes
// during the copy are kept, and that marks are durable while the file stays closed.
import { readdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { mergeRowsMin } from '@ringwright/base/limits-store';
import { expect, onTestFinished, test, vi } from 'vitest';
import { aroundRename } from '../../test/support/around-rename.ts';
import {
  copyPartition,
  cutWals,
  logFiles,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../../test/support/scratch-store.ts';
import { spyAround } from '../../test/support/spy-around.ts';
import { EmptyPartitions } from '../file/empty-partitions.ts';
import { OpenFiles } from '../file/open-files.ts';
import { PartitionFile } from '../file/partition-file.ts';
import { SideProcess } from '../side/side-process.ts';
import type { Store } from '../store.ts';

/** Runs `before` and `after` around the next rename of a staged folder. */
function aroundMove(before: () => Promise<void>, after: () => Promise<void>): void {
  aroundRename((from) => from.includes('/staging/copy-'), { before, after });
}

const nothing = async (): Promise<void> => {};

const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);

async function stores(from: Scratch, to: Scratch, limits = {}): Promise<[Store, Store]> {
  const [source, target] = [await from.open(), await to.open(limits)];
  await source.create('test', 0, 'ready');
  await source.write(keys.map((key, i) => write(key, 'x'.repeat(50), 10 + i)));
  await target.create('test', 0, 'filling');
  return [source, target];
}

const shortLog = { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0 };

/** Writes until all segments that the log has now are removed: their rows are in files then. */
async function rotateLog({ directory }: Scratch, store: Store): Promise<void> {
  const before = new Set(logFiles(directory));
  for (let i = 0; logFiles(directory).some((file) => before.has(file)); i += 1) {
    await store.write([write(`other-${i}`, 'y'.repeat(2_000), 200 + i, 1)]);
  }
}

test('a crash during a copy leaves an empty partition or the complete copy', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  await source.write([{ ...write('promised', null, 70), isPreparedBallot: true }]);
  const images: Scratch[] = [];
  const take = (): void => void images.push(to.image());
  spyAround(SideProcess.prototype, 'audit', { after: take });
  aroundMove(nothing, async () => take());
  spyAround(EmptyPartitions.prototype, 'remove', { before: take, after: take });
  await copyPartition(source, target);
  vi.restoreAllMocks();
  expect(images.length).toBe(4);
  const [empty, ...filled] = images;
  const untouched = await empty!.open();
  expect(untouched.info('test', 0)).toMatchObject({ rows: 0, state: 'filling' });
  expect(readdirSync(join(empty!.directory, 'staging'))).toEqual([]);
  const { rows, digest } = source.info('test', 0)!;
  const { incarnation } = target.info('test', 0)!;
  for (const image of filled) {
    const reopened = await image.open();
    expect(reopened.damaged()).toEqual([]);
    const about = { rows, digest, incarnation, state: 'filling' };
    expect(reopened.info('test', 0)).toMatchObject(about);
    expect(reopened.preparedBallots('test', 0)).toHaveLength(1);
  }
});

test('rows in memory are merged into the copy and stay in the log until it is synced', async () => {
  await using from = scratch();
  await using to = scratch();
  const limits = { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 2 };
  const [source, target] = await stores(from, to, limits);
  await target.create('test', 1, 'ready');
  await target.write([write('mine', 'kept', 5), write('key-0', 'newer', 99)]);
  const [first = ''] = logFiles(to.directory);
  let ms = 100;
  const fill = async (): Promise<void> => {
    await target.write([write('other', 'y'.repeat(5_000), (ms += 1), 1)]);
  };
  // The copy arrives in the second segment. In the fourth, files that need older segments are
  // synced.
  for (const _ of [1, 2]) await fill();
  await copyPartition(source, target);
  for (const _ of [3, 4]) await fill();
  await expect.poll(() => logFiles(to.directory)).not.toContain(first);
  const image = to.image();
  cutWals(image.directory, () => 0);
  const reopened = await image.open();
  expect(reopened.damaged()).toEqual([]);
  expect(textOf(reopened, 'mine')).toBe('kept');
  expect(textOf(reopened, 'key-0')).toBe('newer');
  expect(textOf(reopened, 'key-29')).toBe('x'.repeat(50));
});

test('more rows in memory than one turn can merge are merged in pieces', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  const mine = Array.from({ length: mergeRowsMin + 1 }, (_, i) => `mine-${i}`);
  await target.write(mine.map((key, i) => write(key, key, 100 + i)));
  const checkpoints = vi.spyOn(PartitionFile.prototype, 'checkpointInPool');
  await copyPartition(source, target);
  expect(checkpoints, 'synced before the switch').toHaveBeenCalled();
  vi.restoreAllMocks();
  const image = to.image();
  cutWals(image.directory, () => 0);
  for (const store of [target, await image.open()]) {
    expect(store.info('test', 0)).toMatchObject({ rows: keys.length + mine.length });
    for (const key of mine) expect(textOf(store, key)).toBe(key);
  }
});

test('writes right before and right after the rename are in the copy too', async () => {
  for (const when of ['before', 'after']) {
    await using from = scratch();
    await using to = scratch();
    const [source, target] = await stores(from, to, shortLog);
    await target.create('test', 1, 'ready');
    const images: Scratch[] = [];
    const writeHere = async (): Promise<void> => {
      await target.write([write('mine', when, 5), write('key-0', 'newer', 99)]);
      await target.write([{ ...write('promised here', null, 60), isPreparedBallot: true }]);
      images.push(to.image());
    };
    if (when === 'before') aroundMove(writeHere, nothing);
    else aroundMove(nothing, writeHere);
    await copyPartition(source, target);
    images.push(to.image());
    await rotateLog(to, target);
    images.push(to.image());
    await target.setState('test', 0, 'ready');
    await target.write([write('later', 'kept', 100)]);
    images.push(to.image());
    expect(target.info('test', 0)).toMatchObject({ rows: keys.length + 2, state: 'ready' });
    for (const image of images) {
      cutWals(image.directory, () => 0);
      const reopened = await image.open();
      expect(reopened.damaged()).toEqual([]);
      expect(textOf(reopened, 'mine'), when).toBe(when);
      expect(textOf(reopened, 'key-0'), when).toBe('newer');
      const promised = reopened.preparedBallots('test', 0).map(({ key }) => String(key));
      expect(promised, when).toContain('promised here');
    }
    expect(textOf(target, 'key-29'), when).toBe('x'.repeat(50));
  }
});

test('a new state right before or right after the rename is the state of the copy', async () => {
  for (const when of ['before', 'after']) {
    await using from = scratch();
    await using to = scratch();
    const [source, target] = await stores(from, to);
    const change = () => target.setState('test', 0, 'lost');
    if (when === 'before') aroundMove(change, nothing);
    else aroundMove(nothing, change);
    await copyPartition(source, target);
    for (const store of [target, await to.image().open()]) {
      expect(store.info('test', 0), when).toMatchObject({ rows: keys.length, state: 'lost' });
    }
  }
});

test('the folder of a keyspace is created again after it was removed', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  for (const partition of [1, 2]) {
    await source.create('test', partition, 'ready');
    await source.write([write('one', '1', 5, partition)]);
    await target.create('test', partition, 'filling');
    await copyPartition(source, target, partition);
    await target.drop('test', partition, partition);
    await fs.rm(join(to.directory, 'partitions/test'), { recursive: true });
  }
  await copyPartition(source, target);
  expect(textOf(target, 'key-3')).toBe('x'.repeat(50));
});

test('a folder that cannot be renamed fails the copy but not the store', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  aroundMove(() => Promise.reject(full), nothing);
  await expect(copyPartition(source, target)).rejects.toBe(full);
  expect(target.info('test', 0)).toMatchObject({ rows: 0, state: 'filling' });
  await copyPartition(source, target);
  expect(textOf(target, 'key-3')).toBe('x'.repeat(50));
});

test('marks of a copy that stays closed are durable, and a checkpoint stores them', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to, shortLog);
  await target.create('test', 1, 'ready');
  const opening = vi.spyOn(OpenFiles.prototype, 'replace');
  onTestFinished(() => opening.mockRestore());
  await copyPartition(source, target);
  await target.setState('test', 0, 'ready');
  await target.raiseBarrier('test', 0, 8);
  expect(opening).toHaveBeenCalledTimes(0);
  const marks = { state: 'ready', barrierMs: 8 };
  expect(target.info('test', 0)).toMatchObject(marks);
  await using killed = to.image();
  expect((await killed.open()).info('test', 0)).toMatchObject(marks);
  // Segments are removed over time, but the one with the marks is needed until the file has them.
  await rotateLog(to, target);
  await using later = to.image();
  cutWals(later.directory, () => 0);
  expect((await later.open()).info('test', 0)).toMatchObject(marks);
  expect(textOf(target, 'key-7')).toBe('x'.repeat(50));
});

test('a close of the store and a drop of the file keep the marks', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = await stores(from, to);
  await target.create('test', 1, 'filling');
  await source.create('test', 1, 'ready');
  await source.write([write('one', '1', 5, 1)]);
  for (const partition of [0, 1]) {
    await copyPartition(source, target, partition);
    await target.setState('test', partition, 'ready');
  }
  await target.raiseBarrier('test', 1, 8);
  await target.drop('test', 1, 1_000);
  await target.close();
  expect(logFiles(to.directory)).toEqual([]);
  const reopened = await to.open();
  expect(reopened.info('test', 0)).toMatchObject({ state: 'ready', rows: keys.length });
  const [dropped] = await reopened.trash.list();
  await reopened.trash.restore(dropped!.name);
  expect(reopened.info('test', 1)).toMatchObject({ state: 'filling', barrierMs: 8, rows: 1 });
  expect(textOf(reopened, 'one', 1)).toBe('1');
});
