// Tests a partition that is filled for the first time. Its rows are in memory and in the log until
// some event writes them to a file, and none of them is lost on the way.
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import {
  cutUnfinished,
  cutWals,
  logFiles,
  type Scratch,
  scratch,
  textOf,
  write,
} from '../../test/support/scratch-store.ts';
import type { Store } from '../store.ts';
import { syncsOfSystem } from './syncs.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const folders = ({ directory }: Scratch): string[] => {
  const keyspace = join(directory, 'partitions/test');
  return existsSync(keyspace) ? readdirSync(keyspace).sort() : [];
};

async function filling(place: Scratch, limits = {}): Promise<Store> {
  const store = await place.open(limits);
  await store.create('test', 0, 'filling');
  await store.write([write('a', 'x', 5), write('b', 'y', 6), write('a', 'newer', 7)]);
  await store.write([{ ...write('promised', null, 60), isPreparedBallot: true }]);
  store.peers.confirm({ keyspace: 'test', partition: 0 }, 'd2', 2);
  return store;
}

/** Expects all that `filling` wrote, whether it is in memory or in a file. */
function expectWhole(store: Store): void {
  expect(store.damaged()).toEqual([]);
  expect([textOf(store, 'a'), textOf(store, 'b')]).toEqual(['newer', 'y']);
  const { rows } = store.rowsSince('test', 0, 0, { rowsMax: 9, bytesMax: 9_999 });
  expect(rows.map(({ key }) => String(key))).toEqual(['b', 'a']);
  expect(store.preparedBallots('test', 0)).toMatchObject([{ ms: 60 }]);
  expect(store.info('test', 0)).toMatchObject({ rows: 2, seq: 3 });
}

test('a filling partition has no file, and a kill or a clean close loses nothing', async () => {
  await using place = scratch();
  const store = await filling(place);
  expectWhole(store);
  const info = store.info('test', 0);
  expect(folders(place)).toEqual([]);
  const killed = await place.image().open();
  expectWhole(killed);
  expect(killed.info('test', 0)).toEqual(info);
  await killed.close();
  await store.close();
  expect(folders(place)).toEqual(['0']);
  const again = await place.open();
  expectWhole(again);
  expect(again.peers.confirmed({ keyspace: 'test', partition: 0 }, 'd2')).toBe(2);
});

test('a new state and a new barrier create no file and survive a kill', async () => {
  await using place = scratch();
  const store = await filling(place);
  await store.setState('test', 0, 'ready');
  await store.raiseBarrier('test', 0, 4);
  expect(folders(place)).toEqual([]);
  const killed = await place.image().open();
  expectWhole(killed);
  expect(killed.info('test', 0)).toMatchObject({ state: 'ready', barrierMs: 4 });
});

test('the first file is synced before the log segments with its rows are removed', async () => {
  await using place = scratch();
  const synced: string[] = [];
  const { inPool } = syncsOfSystem;
  vi.spyOn(syncsOfSystem, 'inPool').mockImplementation(async (fd) => {
    synced.push(readlinkSync(`/proc/self/fd/${fd}`));
    await inPool(fd);
  });
  const store = await filling(place, { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0 });
  const current = join(place.directory, 'partitions/test/0/CURRENT');
  await store.create('test', 1, 'ready');
  const before = new Set(logFiles(place.directory));
  const images: Scratch[] = [];
  for (let ms = 100; logFiles(place.directory).some((file) => before.has(file)); ms += 1) {
    await store.write([write('other', 'y'.repeat(2_000), ms, 1)]);
    images.push(place.image());
  }
  expect(existsSync(current)).toBe(true);
  expect(synced.filter((name) => name.includes('/test/0/'))).toContainEqual(
    expect.stringMatching(/data\.db$/),
  );
  expectWhole(store);
  for (const image of images) {
    cutWals(image.directory, () => 0);
    cutUnfinished(image.directory);
    expectWhole(await image.open());
  }
});

test('a filling partition gets a file when its memtable is full', async () => {
  await using place = scratch();
  const store = await filling(place, { memtableRowsMax: 9 });
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
  await store.write(keys.map((key, index) => write(key, key, 100 + index)));
  expect(folders(place)).toEqual(['0']);
  for (const key of keys) expect(textOf(store, key)).toBe(key);
  const image = place.image();
  cutWals(image.directory, () => 0);
  const reopened = await image.open();
  for (const key of keys) expect(textOf(reopened, key)).toBe(key);
});

test('a filling partition that was dropped can be restored from the trash', async () => {
  await using place = scratch();
  const store = await filling(place);
  await store.drop('test', 0);
  const [item] = await store.trash.list();
  await store.trash.restore(item?.name ?? '');
  expectWhole(store);
});
