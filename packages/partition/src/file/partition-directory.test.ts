// Tests when the folder of a new partition counts.
import fs, { mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import promises, { type FileHandle, open } from 'node:fs/promises';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { makePartitionDirectory } from './partition-directory.ts';
import { syncsOfSystem } from './syncs.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('all names on the path to a new file are durable before CURRENT counts', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('a', 'x', 5)]);
  const partitions = join(place.directory, 'partitions');
  const home = join(partitions, 'test/0');
  const current = (): string => readFileSync(join(home, 'CURRENT'), 'utf8');
  const [prefix = '', incarnation = ''] = current().trim().split(' ');
  expect(prefix).toBe('new');

  await using handle = await open(place.directory);
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { value: sync } = Object.getOwnPropertyDescriptor(prototype, 'sync') ?? {};
  const syncedBefore = new Set<string>();
  vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    const path = readlinkSync(`/proc/self/fd/${this.fd}`);
    await Reflect.apply(sync, this, []);
    if (current().startsWith(prefix)) syncedBefore.add(path);
  });
  await store.close();
  expect(current()).toBe(`${incarnation}\n`);
  const path = [partitions, join(partitions, 'test'), home, join(home, incarnation)];
  expect([...syncedBefore]).toEqual(expect.arrayContaining(path));
});

test('a new file is synced before it counts, also if its first change is none', async () => {
  await using place = scratch();
  const store = await place.open({ logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0 });
  for (const partition of [0, 1]) await store.create('test', partition, 'ready');
  const synced = new Set<string>();
  const { inPool } = syncsOfSystem;
  vi.spyOn(syncsOfSystem, 'inPool').mockImplementation((fd) => {
    synced.add(readlinkSync(`/proc/self/fd/${fd}`));
    return inPool(fd);
  });
  await store.carryMarks('test', 0, { barrierMs: 0, floorMs: 0 });
  const home = join(place.directory, 'partitions/test/0');
  const current = (): string => readFileSync(join(home, 'CURRENT'), 'utf8').trim();
  for (let i = 0; current().startsWith('new'); i += 1) {
    await store.write([write('other', 'y'.repeat(5_000), i + 1, 1)]);
  }
  expect([...synced]).toContain(join(home, current(), 'data.db'));
});

test('a lack of descriptors at a start does not count as damage of a partition', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const list = readFileSync(join(place.directory, 'empty-partitions'));
  await store.write([write('a', 'x', 5)]);
  await store.close();
  const { readFile } = promises;
  const restore = (): void => {
    promises.readFile = readFile;
    module.syncBuiltinESMExports();
  };
  onTestFinished(restore);
  const refuse = (file: unknown, ...about: unknown[]): Promise<unknown> =>
    String(file).endsWith('/CURRENT')
      ? Promise.reject(Object.assign(new Error('too many open files'), { code: 'ENFILE' }))
      : Reflect.apply(readFile, promises, [file, ...about]);
  for (const line of [null, list]) {
    if (line !== null) writeFileSync(join(place.directory, 'empty-partitions'), line);
    promises.readFile = refuse as typeof readFile;
    module.syncBuiltinESMExports();
    await expect(place.open()).rejects.toThrow('too many open files');
    restore();
    const again = await place.open();
    expect(textOf(again, 'a')).toBe('x');
    await again.close();
  }
});

test('a file that is made while a copy takes its place does not replace its CURRENT', () => {
  const root = mkdtempSync(join(tmpdir(), 'directory-'));
  const current = join(root, 'partitions/test/0/CURRENT');
  const { writeFileSync } = fs;
  onTestFinished(() => {
    fs.writeFileSync = writeFileSync;
    module.syncBuiltinESMExports();
    rmSync(root, { recursive: true });
  });
  fs.writeFileSync = (file, ...about) => {
    // The thread pool renames the copy's CURRENT at the last moment.
    if (file === current) writeFileSync(current, 'copy\n');
    writeFileSync(file, ...about);
  };
  module.syncBuiltinESMExports();
  const ids = { keyspace: 'test', partition: 0, incarnation: 'present', life: 'present' };
  makePartitionDirectory(root, { ...ids, state: 'filling' });
  expect(readFileSync(current, 'utf8')).toBe('copy\n');
});
