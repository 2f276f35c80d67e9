// Tests the disk usage of a store against the sizes that the system reports, and its request rates.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';

test('the size of a partition includes its WAL, and is 0 while it has no file', async () => {
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

test('the request rate reaches a steady rate and halves after one half-life', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1]) await store.create('test', partition, 'ready');
  store.requests.count(requestRateHalfLifeMs / 4);
  expect(store.requests.rates('test'), 'measured for too short a time').toEqual([]);
  for (let round = 0; round < 60; round += 1) {
    await store.write([write('a', 'x', round + 1), write('b', 'y', round + 1)]);
    textOf(store, 'a');
    store.requests.count(requestRateHalfLifeMs / 4);
  }
  const [[, rate] = [0, 0], ...others] = store.requests.rates('test');
  expect([others, store.requests.rates('other')]).toEqual([[[1, 0]], []]);
  expect(rate).toBeCloseTo(3_000 / (requestRateHalfLifeMs / 4), 3);
  store.requests.count(requestRateHalfLifeMs);
  expect(store.requests.rates('test')[0]?.[1]).toBeCloseTo(rate / 2, 3);
});
