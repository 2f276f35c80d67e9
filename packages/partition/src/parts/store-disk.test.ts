// What a store takes of its disk, against what the system says of its folder.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';

test('files with their WAL are told of, also of small values, and of none nothing', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1, 2]) await store.create('test', partition, 'ready');
  await store.create('other', 0, 'ready');
  const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`);
  await store.write(keys.map((key) => write(key, 'x', 1, 0)));
  await store.write(keys.slice(0, 1).map((key) => write(key, 'x', 1, 1)));
  const home = join(place.directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const bytesOf = (name: string): number => statSync(join(home, incarnation, name)).size;
  const bytes = new Map(await store.disk.fileBytes('test'));
  expect(new Set(bytes.keys())).toEqual(new Set([0, 1, 2]));
  expect(bytes.get(0)).toBe(bytesOf('data.db') + bytesOf('data.db-wal'));
  expect(bytes.get(0)).toBeGreaterThan(10 * keys.length);
  expect(bytes.get(1)).toBeGreaterThan(0);
  expect(bytes.get(2), 'no file yet').toBe(0);
  await store.drop('test', 1);
  const left = (await store.disk.fileBytes('test')).map(([partition]) => partition);
  expect(new Set(left)).toEqual(new Set([0, 2]));
  const { freeBytes, totalBytes } = await store.disk.free();
  expect(totalBytes).toBeGreaterThan(freeBytes);
});
