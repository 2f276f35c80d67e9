// The note of partitions that a data directory has held: added when complete, removed once drained.
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PartitionState } from '@ringwright/partition/file/partition-info';
import { openStore } from '@ringwright/partition/open-store';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { checkCompleteFiles } from './check-complete-files.ts';
import { CompleteFiles } from './complete-files.ts';

/** Device 3 has no partition. */
const ring = servedRing({ devices: 4, replicas: 3, power: 1 });
const [cities, towns] = [activeOn(ring, 0), activeOn({ ...ring, keyspace: 'towns' }, 0)];
const files = (...states: [number, PartitionState][]): ReadonlyMap<number, PartitionState> =>
  new Map(states);

async function noted(directory: string): Promise<string[]> {
  const held = await CompleteFiles.load(directory);
  const all = ['cities', 'towns'].flatMap((name) => [0, 1, 2].map((one) => [name, one] as const));
  return all.filter(([name, one]) => held.has(name, one)).map((one) => one.join('/'));
}

test('complete files of several rings are noted, and the note survives a restart', async () => {
  await using folder = await scratchFolder();
  const held = await CompleteFiles.load(folder.path);
  await Promise.all([
    held.follow(cities, files([0, 'ready'], [1, 'filling'])),
    held.follow(towns, files([0, 'ready'])),
  ]);
  expect(await noted(folder.path)).toEqual(['cities/0', 'towns/0']);
  // The note exists for folders that are gone. A file that lacks records was complete before.
  await held.follow(cities, files([0, 'lost']));
  await held.follow(towns, files());
  expect(await noted(folder.path)).toEqual(['cities/0', 'towns/0']);
});

test('a partition that the ring gives to others is forgotten once its file is gone', async () => {
  await using folder = await scratchFolder();
  const held = await CompleteFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready']));
  const elsewhere = activeOn(ring, 3);
  await held.follow(elsewhere, files([0, 'filling']));
  expect(await noted(folder.path)).toEqual(['cities/0']);
  await held.follow({ ...elsewhere, self: null }, files());
  expect(await noted(folder.path), 'a ring without this device removes no note').toEqual([
    'cities/0',
  ]);
  await held.follow(elsewhere, files());
  expect(await noted(folder.path)).toEqual([]);
});

test('under a ring without this device only drained partitions are forgotten', async () => {
  await using folder = await scratchFolder();
  const held = await CompleteFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready'], [1, 'ready']));
  held.noteHandedOver('cities', 0);
  await held.follow({ ...cities, self: null }, files());
  expect(await noted(folder.path)).toEqual(['cities/1']);
});

test('a noted partition without a folder is reported, unless it is in the trash', async () => {
  await using folder = await scratchFolder();
  const newIncarnation = (): string => 'a'.repeat(24);
  const store = await openStore({ directory: folder.path, newIncarnation });
  for (const partition of [0, 1]) {
    await store.create('cities', partition, 'ready');
    const record = { key: Buffer.from('k'), value: null, ms: 1, tie: 1, expiresMs: 0 };
    await store.write([{ keyspace: 'cities', partition, ...record }]);
  }
  const held = await CompleteFiles.load(folder.path);
  await held.follow(cities, files([0, 'ready'], [1, 'ready']));
  await store.drop('cities', 0);
  await store.close();
  expect(await checkCompleteFiles(folder.path)).toEqual([]);
  // An unreadable file is reported by other checks, and hides nothing here.
  const place = join(folder.path, 'partitions', 'cities', '1');
  const file = join(place, newIncarnation(), 'data.db');
  await rm(file);
  await mkdir(file);
  expect(await checkCompleteFiles(folder.path)).toEqual([]);
  await rm(place, { recursive: true });
  const details = { keyspace: 'cities', partition: 1 };
  const finding = { code: 'PARTITION_ABSENT', details };
  expect(await checkCompleteFiles(folder.path)).toMatchObject([finding]);
  // An operator who made room by hand deleted the whole trash.
  await rm(join(folder.path, 'trash'), { recursive: true });
  expect(await checkCompleteFiles(folder.path)).toMatchObject([
    { ...finding, details: { ...details, partition: 0 } },
    finding,
  ]);
});
