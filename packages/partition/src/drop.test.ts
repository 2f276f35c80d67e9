// Tests drops of partitions: what the log, the trash and a new partition keep of the old one, also
// after crashes and power losses.
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import fs from 'node:fs/promises';
import module from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  cutUnfinished,
  cutWals,
  logFiles,
  scratch,
  textOf,
  write,
} from '../test/support/scratch-store.ts';
import { OpenFiles } from './file/open-files.ts';
import { openStore } from './open-store.ts';

test('a partition that is dropped and created again has no rows of its former life', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('old', 'x', 1)]);
  await store.drop('test', 0);
  await store.create('test', 0, 'ready');
  await store.write([write('new', 'y', 1)]);
  await using image = place.image();
  cutWals(image.directory, () => 0);
  const again = await image.open();
  expect(textOf(again, 'old')).toBeUndefined();
  expect(textOf(again, 'new')).toBe('y');
});

test('replay skips the log frames of a dropped partition after a crash', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.create('test', 1, 'ready');
  await store.write([write('a', 'x', 1), write('b', 'y', 1, 1)]);
  await store.drop('test', 0);
  await using image = place.image();
  cutWals(image.directory, () => 0);
  const again = await image.open();
  expect(again.list().map(({ partition }) => partition)).toEqual([1]);
  expect(textOf(again, 'b', 1)).toBe('y');
  await expect(again.drop('test', 0)).rejects.toMatchObject({ code: 'PARTITION_ABSENT' });
});

test('writes in flight when the partition is dropped are absent, not applied', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const written = store.write([write('a', 'x', 1)]);
  const dropped = store.drop('test', 0);
  expect(await written).toEqual([{ kind: 'absent' }]);
  await dropped;
  await store.create('test', 0, 'ready');
  expect(textOf(store, 'a')).toBeUndefined();
});

test('the trash keeps dropped files until they are old enough', async () => {
  await using place = scratch();
  const store = await place.open();
  const trash = join(place.directory, 'trash');
  for (const at of [1_000, 2_000]) {
    await store.create('test', 0, 'ready');
    await store.write([write('a', 'x', 1)]);
    await store.drop('test', 0, at);
  }
  expect(readdirSync(trash)).toHaveLength(2);
  const gone = async (beforeMs: number) =>
    (await store.trash.trim({ beforeMs, bytesMax: 1e9 })).map(({ atMs }) => atMs);
  expect(await gone(1_000)).toEqual([]);
  expect(await gone(1_300)).toEqual([1_000]);
  expect(readdirSync(trash)[0]).toMatch(/^2000\.test\.0\./);
  expect(await gone(2_001)).toEqual([2_000]);
  expect(readdirSync(trash)).toEqual([]);
});

test.each([
  ['new, all of it in the log', false],
  ['finished, with records in the log', true],
])(
  'a power loss during a drop leaves all rows or no partition; the file is %s',
  async (_, isFinished) => {
    await using place = scratch();
    let store = await place.open();
    await store.create('test', 0, 'ready');
    await store.write([write('a', 'x', 1)]);
    if (isFinished) {
      await store.close();
      store = await place.open();
    }
    await store.write([write('b', 'y', 2)]);
    let isDropped = false;
    const dropped = store.drop('test', 0).then(() => (isDropped = true));
    const found: string[] = [];
    for (;;) {
      const isOver = isDropped;
      await using image = place.image();
      cutWals(image.directory, () => 0);
      cutUnfinished(image.directory);
      const again = await image.open();
      const isGone = again.info('test', 0) === null;
      found.push(isGone ? 'gone' : `${textOf(again, 'a')}${textOf(again, 'b')}`);
      await again.close();
      if (isOver) break;
      await new Promise(setImmediate);
    }
    await dropped;
    expect(new Set(found)).toEqual(new Set(['xy', 'gone']));
    expect(found.indexOf('gone')).toBeGreaterThan(found.lastIndexOf('xy'));
  },
);

test('a drop opens no closed file for a pending change of state', async () => {
  await using place = scratch();
  const before = await place.openReady();
  await before.write([write('a', 'x', 1)]);
  await before.close();
  const store = await place.open();
  await store.setState('test', 0, 'lost');
  const use = vi.spyOn(OpenFiles.prototype, 'use');
  await store.drop('test', 0, 1_000);
  expect(use).not.toHaveBeenCalled();
  use.mockRestore();
  const [item] = await store.trash.list();
  expect(await store.trash.restore(item!.name)).toMatchObject({ state: 'filling', rows: 1 });
});

test('the trash restores rows that no checkpoint had moved into the file', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('a', 'x', 1), write('b', 'y', 1)]);
  await store.drop('test', 0, 1_000);
  const [item] = await store.trash.list();
  await store.trash.restore(item!.name);
  expect([textOf(store, 'a'), textOf(store, 'b')]).toEqual(['x', 'y']);
});

test('a drop whose directory cannot be synced fails the store, and the log stays', async () => {
  await using place = scratch();
  const { directory } = place;
  const store = await openStore({ directory, newIncarnation: randomUUID });
  await store.create('test', 0, 'ready');
  await store.write([write('a', 'x', 1)]);
  const { open } = fs;
  onTestFinished(() => {
    fs.open = open;
    module.syncBuiltinESMExports();
  });
  fs.open = (file, ...rest) =>
    String(file).endsWith('/trash')
      ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }))
      : open(file, ...rest);
  module.syncBuiltinESMExports();
  await expect(store.drop('test', 0)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await expect(store.close()).rejects.toMatchObject({ code: 'STORE_FAILED' });
  expect(logFiles(directory)).not.toEqual([]);
});
