// Which partitions a directory has held: noted when they are complete, forgotten when given up.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { openStore } from '@ringwright/partition/open-store';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { checkHeld } from './check-held.ts';
import { HeldFiles } from './held-files.ts';

/** Device 3 has no partition. */
const ring = servedRing({ devices: 4, replicas: 3, power: 1 });
const [cities, towns] = [activeOn(ring, 0), activeOn({ ...ring, keyspace: 'towns' }, 0)];
const files = (...states: [number, PartitionState][]): ReadonlyMap<number, PartitionState> =>
  new Map(states);

async function noted(directory: string): Promise<string[]> {
  const held = await HeldFiles.load(directory);
  const all = ['cities', 'towns'].flatMap((name) => [0, 1, 2].map((one) => [name, one] as const));
  return all.filter(([name, one]) => held.has(name, one)).map((one) => one.join('/'));
}

test('complete files are noted, of several rings at once, and survive a restart', async () => {
  await using folder = await scratchFolder();
  const held = await HeldFiles.load(folder.path);
  await Promise.all([
    held.follow(cities, files([0, 'ready'], [1, 'filling'])),
    held.follow(towns, files([0, 'ready'])),
  ]);
  expect(await noted(folder.path)).toEqual(['cities/0', 'towns/0']);
  // A folder that is gone is what the note is for; one that lacks records was complete before.
  await held.follow(cities, files([0, 'lost']));
  await held.follow(towns, files());
  expect(await noted(folder.path)).toEqual(['cities/0', 'towns/0']);
});

test('what the ring gave to others is forgotten with its file, not before', async () => {
  await using folder = await scratchFolder();
  const held = await HeldFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready']));
  const elsewhere = activeOn(ring, 3);
  await held.follow(elsewhere, files([0, 'filling']));
  expect(await noted(folder.path)).toEqual(['cities/0']);
  await held.follow({ ...elsewhere, self: null }, files());
  expect(await noted(folder.path), 'a ring without this device says nothing').toEqual(['cities/0']);
  await held.follow(elsewhere, files());
  expect(await noted(folder.path)).toEqual([]);
});

test('a ring without this device: what was given up is forgotten, and no more', async () => {
  await using folder = await scratchFolder();
  const held = await HeldFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready'], [1, 'ready']));
  held.giveUp('cities', 0);
  await held.follow({ ...cities, self: null }, files());
  expect(await noted(folder.path)).toEqual(['cities/1']);
});

test('what is noted and has no folder is told, unless it went to the trash since', async () => {
  await using folder = await scratchFolder();
  const newIncarnation = (): string => 'a'.repeat(24);
  const store = await openStore({ directory: folder.path, newIncarnation });
  for (const partition of [0, 1]) {
    await store.create('cities', partition, 'ready');
    const record = { key: Buffer.from('k'), value: null, ms: 1, tie: 1, expiresMs: 0 };
    await store.write([{ keyspace: 'cities', partition, ...record }]);
  }
  const held = await HeldFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready'], [1, 'ready']));
  await store.drop('cities', 0);
  await store.close();
  expect(await checkHeld(folder.path)).toEqual([]);
  // A file that cannot be read is told by others; it hides nothing here.
  const place = join(folder.path, 'partitions', 'cities', '1');
  const file = join(place, newIncarnation(), 'data.db');
  await rm(file);
  await mkdir(file);
  expect(await checkHeld(folder.path)).toEqual([]);
  await rm(place, { recursive: true });
  const details = { keyspace: 'cities', partition: 1 };
  const told = { code: 'PARTITION_ABSENT', details };
  expect(await checkHeld(folder.path)).toMatchObject([told]);
  // Whoever made room by hand took the whole trash away.
  await rm(join(folder.path, 'trash'), { recursive: true });
  expect(await checkHeld(folder.path)).toMatchObject([
    { ...told, details: { ...details, partition: 0 } },
    told,
  ]);
});
