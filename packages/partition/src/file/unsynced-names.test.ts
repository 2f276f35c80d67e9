// Tests that a start makes durable what a killed process had renamed or appended without a sync:
// a power loss after the start would undo it.
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { cutWals, type Scratch, scratch, textOf, write } from '../../test/support/scratch-store.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Calls `onSync` with the path of each file or folder that is about to be synced. */
async function watchSyncs(directory: string, onSync: (path: string) => void): Promise<void> {
  await using handle = await open(directory);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { value: sync } = Object.getOwnPropertyDescriptor(prototype, 'sync') ?? {};
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    onSync(readlinkSync(`/proc/self/fd/${this.fd}`));
    await Reflect.apply(sync, this, []);
  });
}

const listIn = ({ directory }: Scratch): string => join(directory, 'empty-partitions');
const homeIn = ({ directory }: Scratch): string => join(directory, 'partitions/test/0');

test('a partition whose line a killed process did not sync survives a power loss', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 1, 'ready');
  let durable = readFileSync(listIn(place));
  await store.create('test', 0, 'ready');
  const killed = place.image();
  await watchSyncs(killed.directory, (path) => {
    if (path === listIn(killed)) durable = readFileSync(path);
  });
  await (await killed.open()).write([write('a', 'x', 5)]);
  const image = killed.image();
  writeFileSync(listIn(image), durable);
  expect(textOf(await image.open(), 'a')).toBe('x');
});

test('a line is canceled only when the CURRENT that overrides it is durable', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const list = readFileSync(listIn(place));
  await store.write([write('a', 'x', 5)]);
  await store.close();
  writeFileSync(listIn(place), list);
  const synced = new Set<string>();
  let hadLine: boolean | null = null;
  await watchSyncs(place.directory, (path) => {
    if (path === homeIn(place)) hadLine = readFileSync(listIn(place)).equals(list);
    synced.add(path);
  });
  await place.open();
  expect([...synced]).toContain(`${listIn(place)}.new`);
  expect(hadLine).toBe(true);
});

test('an old file is removed only when the CURRENT of the new one is durable', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('a', 'x', 5)]);
  await store.close();
  const home = homeIn(place);
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  const old = join(home, 'old');
  cpSync(join(home, incarnation), old, { recursive: true });
  let hadOld: boolean | null = null;
  await watchSyncs(place.directory, (path) => {
    if (path === home) hadOld = existsSync(old);
  });
  await place.open();
  expect([hadOld, existsSync(old)]).toEqual([true, false]);
});

test('a killed drop does not bring back a partition without what the log had', async () => {
  await using place = scratch();
  const first = await place.openReady();
  await first.write([write('a', 'x', 5)]);
  await first.close();
  const store = await place.open();
  await store.write([write('b', 'y', 6)]);
  const killed = place.image();
  const trash = join(killed.directory, 'trash');
  const dropped = join(trash, '1000.test.0.dropped');
  renameSync(homeIn(killed), dropped);
  const synced = new Set<string>();
  await watchSyncs(killed.directory, (path) => void synced.add(path));
  await killed.open();
  const image = killed.image();
  const names = [trash, join(killed.directory, 'partitions/test')];
  if (!names.every((name) => synced.has(name))) {
    renameSync(join(image.directory, 'trash/1000.test.0.dropped'), homeIn(image));
  }
  cutWals(image.directory, () => 0);
  const found = (await image.open()).info('test', 0);
  expect(found === null || found.rows === 2, JSON.stringify(found)).toBe(true);
});
