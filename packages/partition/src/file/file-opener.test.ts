// Writes to many partitions whose files are not open make or open few of them in one turn.
import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { filesOpenedPerTurn } from '@ringwright/base/limits-store';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { openStore } from '../open-store.ts';
import type { Store } from '../store.ts';
import { PartitionFile } from './partition-file.ts';

const partitions = Array.from({ length: 5 * filesOpenedPerTurn }, (_, index) => index);
const writes = partitions.map((index) => write('key', 'a value', 1, index));

/** Returns how many files were opened in each turn until the work ended. */
async function openedPerTurn(store: Store, work: Promise<unknown>): Promise<number[]> {
  const countOpen = (): number =>
    partitions.filter((index) => store.recent('test', index) !== null).length;
  const counts = [countOpen()];
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await setImmediate();
    counts.push(countOpen());
  }
  await done;
  return counts.map((count, turn) => count - (counts[turn - 1] ?? 0));
}

test.each([
  ['one call', (store: Store) => store.write(writes)],
  ['a call each', (store: Store) => Promise.all(writes.map((one) => store.write([one])))],
])('%s', async (_, writeAll) => {
  await using place = scratch();
  const store = await place.open();
  for (const index of partitions) await store.create('test', index, 'ready');
  const opened = await openedPerTurn(store, writeAll(store));
  expect(Math.max(...opened.slice(1))).toBe(filesOpenedPerTurn);
  expect(partitions.map((index) => textOf(store, 'key', index))).toEqual(
    partitions.map(() => 'a value'),
  );
});

test('many writes to one closed file do not wait', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const many = partitions.map((index) => write(`key ${index}`, 'a value', 1));
  const written = store.write(many);
  expect(store.recent('test', 0)).not.toBeNull();
  await written;
});

test('writes that wait for files are copies', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const index of partitions) await store.create('test', index, 'ready');
  const mine = writes.map((one) => ({ ...one, key: Buffer.from(one.key) }));
  const written = store.write(mine);
  for (const { key } of mine) key.fill(0);
  await written;
  expect(textOf(store, 'key', partitions.length - 1)).toBe('a value');
});

test('a store that is closed meanwhile opens no further file', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const index of partitions) await store.create('test', index, 'ready');
  const written = store.write(writes);
  await Promise.all([
    expect(written).rejects.toMatchObject({ code: 'STORE_CLOSED' }),
    store.close(),
  ]);
});

test('a disk error of the file that is closed for room fails the store', async () => {
  await using place = scratch();
  const { directory } = place;
  const limits = { openPartitionFilesMax: 1 };
  const store = await openStore({ directory, newIncarnation: randomUUID, limits });
  for (const index of [0, 1]) await store.create('test', index, 'ready');
  await store.write([write('key', 'a value', 1, 0)]);
  const close = vi.spyOn(PartitionFile.prototype, 'close').mockImplementationOnce(() => {
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_WRITE');
  });
  const message = expect.stringMatching(/test\/0\/[\w-]+\/data\.db: disk I\/O error/);
  const failure = { code: 'STORE_FAILED', message };
  await expect(store.write([write('key', 'later', 1, 1)])).rejects.toMatchObject(failure);
  close.mockRestore();
  await expect(store.close()).rejects.toMatchObject(failure);
  expect(textOf(await place.open(), 'key', 0)).toBe('a value');
});
