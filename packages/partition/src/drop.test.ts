import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cutWals, scratch, textOf, write } from '../test/support/scratch-store.ts';

test('a partition that is dropped and made again gets nothing of its former life', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 0, 'ready');
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

test('a dropped partition stays away after a crash, its log frames are skipped', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 0, 'ready');
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

test('writes under way when the partition is dropped are absent, not applied', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 0, 'ready');
  const written = store.write([write('a', 'x', 1)]);
  const dropped = store.drop('test', 0);
  expect(await written).toEqual([{ kind: 'absent' }]);
  await dropped;
  await store.create('test', 0, 'ready');
  expect(textOf(store, 'a')).toBeUndefined();
});

test('the trash keeps what was dropped until it is old enough', async () => {
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
