// Work that reads long values only where it needs them, and few in one turn.
import { valueBytesMax } from '@ringwright/base/limits';
import { expect, onTestFinished, test, vi } from 'vitest';
import { breakChains } from '../../test/support/broken-chains.ts';
import { scratch, write } from '../../test/support/scratch-store.ts';
import { PartitionFile } from '../file/partition-file.ts';

const place = { keyspace: 'test', partition: 0 };

const longWrite = (key: string, ms: number) => ({
  ...write(key, '', ms),
  value: Buffer.alloc(valueBytesMax, key),
});

test('a stamp is answered without the pages of the value', async () => {
  await using folder = scratch();
  folder.damaged();
  const filled = await folder.openReady();
  await filled.write([longWrite('a', 9)]);
  await filled.close();
  expect(breakChains(folder.directory, 'a')).toBeGreaterThan(200);
  const store = await folder.open();
  expect(store.stampOf('test', 0, Buffer.from('b'))).toBeNull();
  expect(store.stampOf('test', 0, Buffer.from('a'))).toMatchObject({ ms: 9 });
  expect(() => store.read('test', 0, Buffer.from('a'))).toThrow('malformed');
});

test('a tail of long values is short', async () => {
  await using folder = scratch();
  const filled = await folder.openReady();
  for (let ms = 1; ms <= 40; ms += 1) await filled.write([longWrite(`key ${ms}`, ms)]);
  await filled.close();
  const store = await folder.open();
  const { rows } = store.peers.tail(place, 1_024);
  expect(rows.map(({ ms }) => ms)).toEqual(Array.from({ length: 32 }, (_, at) => 40 - at));
});

test('a floor removes few long values in one turn', async () => {
  await using folder = scratch();
  const store = await folder.openReady();
  for (let ms = 1; ms <= 20; ms += 1) {
    await store.write([{ ...longWrite(`key ${ms}`, ms), expiresMs: 100 }]);
  }
  const drops = vi.spyOn(PartitionFile.prototype, 'dropTombstones');
  onTestFinished(() => drops.mockRestore());
  await store.raiseBarrier('test', 0, 200);
  await store.raiseFloor('test', 0, 200);
  expect(drops.mock.results.map(({ value }) => value)).toEqual([8, 16, 20, null]);
  expect(store.info('test', 0)?.rows).toBe(0);
});

test('few long values are replaced in one turn, also among many short ones', async () => {
  await using folder = scratch();
  const filled = await folder.openReady();
  const keys = Array.from({ length: 72 }, (_, index) => `key ${index}`);
  for (const key of keys) await filled.write([longWrite(key, 1)]);
  await filled.write(Array.from({ length: 1_000 }, (_, index) => write(`short ${index}`, 'v', 1)));
  await filled.close(); // while a checkpoint runs, rows wait in memory
  const store = await folder.open();
  const applied = vi.spyOn(PartitionFile.prototype, 'apply');
  const flushed = vi.spyOn(PartitionFile.prototype, 'flush');
  onTestFinished(() => void vi.restoreAllMocks());
  const outcomes = await store.write(keys.map((key) => write(key, null, 2)));
  expect(applied.mock.results.map(({ value }) => value.length)).toEqual([16, 16, 16, 16, 8]);
  // The rows of two turns replace as much as one flush may; those of the last wait in memory.
  expect(flushed).toHaveBeenCalledTimes(2);
  expect(outcomes).toEqual(keys.map(() => ({ kind: 'applied' })));
  expect(store.info('test', 0)).toMatchObject({ rows: 1_000, tombstones: 72 });
});
