// Tests when the folder of a new partition counts.
import { readFileSync, readlinkSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { scratch, write } from '../../test/support/scratch-store.ts';

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
