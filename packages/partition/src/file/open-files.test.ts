// Tests how open partition files share the memory for page caches.
import { fileCacheBytesMax, fileCacheBytesMin } from '@ringwright/base/limits-store';
import { expect, test } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';
import { readEmptyPartitions } from './empty-partitions.ts';
import { OpenFiles } from './open-files.ts';
import { readPartitions } from './read-partitions.ts';

/** Opens the files under these limits and returns the page cache of each open file, in KiB. */
async function cachesOf(directory: string, filesMax: number, pageCachesBytesMax: number) {
  const limits = { filesMax, pageCachesBytesMax, rowCachesBytesMax: 0 };
  const files = new OpenFiles(directory, limits);
  const empties = await readEmptyPartitions(directory);
  await readPartitions(directory, { files, empties, onStep: () => undefined });
  const open = [...files.all()];
  const sizes = open.map(({ file }) => -Number(file?.db.pragma('cache_size', { simple: true })));
  for (const partition of open) files.close(partition);
  return sizes;
}

test('page caches shrink as more files are open, between a maximum and a minimum', async () => {
  await using place = scratch();
  const store = await place.open();
  for (let number = 0; number < 6; number += 1) {
    await store.create('test', number, 'ready');
    await store.write([write('a', 'x', 1, number)]);
  }
  await store.close();
  const caches = (filesMax: number, bytes: number) => cachesOf(place.directory, filesMax, bytes);
  const most = fileCacheBytesMax / 1024;
  const least = fileCacheBytesMin / 1024;
  expect(await caches(9, 100 * fileCacheBytesMax)).toEqual(Array(6).fill(most));
  expect(await caches(9, 2 * fileCacheBytesMax)).toEqual(Array(6).fill(most / 4));
  expect(await caches(2, 2 * fileCacheBytesMax)).toEqual(Array(2).fill(most));
  expect(await caches(9, fileCacheBytesMin)).toEqual(Array(6).fill(least));
});
