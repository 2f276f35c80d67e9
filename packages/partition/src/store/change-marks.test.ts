// Tests that states, barriers and floors are entries of the log: durable with it, and in one order
// with the records.
import { expect, onTestFinished, test, vi } from 'vitest';
import { cutWals, scratch, write } from '../../test/support/scratch-store.ts';
import { spyAround } from '../../test/support/spy-around.ts';
import type { PartitionRef } from '../file/data-paths.ts';
import { EmptyPartitions } from '../file/empty-partitions.ts';
import { PartitionWal } from '../file/partition-wal.ts';

/** Number of changes of each kind. Each has three records, written before and after it. */
const changes = 30;

test('all changes survive in order, whatever part of the WALs a power loss takes', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1]) await store.create('test', partition, 'filling');
  for (let i = 1; i <= changes; i += 1) {
    const ms = 10 * i;
    const state = i % 2 === 0 ? 'ready' : 'lost';
    // All four entries share a frame. Once the floor is raised, a record at the floor is too old,
    // and the next record above it is not.
    await Promise.all([
      store.write([write(`before-${i}`, 'v', ms)]),
      store.raiseBarrier('test', 0, ms),
      store.setState('test', 0, state),
      store.write([write(`after-${i}`, 'v', ms)]),
    ]);
    await store.raiseFloor('test', 0, ms);
    const outcomes = await store.write([write(`late-${i}`, 'v', ms), write(`k-${i}`, 'v', ms + 1)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['stale', 'applied']);
  }
  const wanted = store.info('test', 0);
  expect(wanted).toMatchObject({ state: 'ready', barrierMs: 300, floorMs: 300, rows: 3 * changes });
  for (const part of [0, 0.5, 1]) {
    const image = place.image();
    cutWals(image.directory, (bytes) => Math.floor(bytes * part));
    const reopened = await image.open();
    expect(reopened.info('test', 0), `${part} of each WAL`).toEqual(wanted);
    expect(reopened.info('test', 1)).toMatchObject({ state: 'filling', barrierMs: 0 });
  }
});

test('changes of a closed file are visible at once and after a restart', async () => {
  await using place = scratch();
  const store = await place.open({ openPartitionFilesMax: 1 });
  for (const partition of [0, 1]) await store.create('test', partition, 'filling');
  await store.setState('test', 0, 'ready');
  await store.setState('test', 1, 'lost');
  expect(store.list().map(({ state }) => state)).toEqual(['ready', 'lost']);
  await store.close();
  const reopened = await place.open();
  expect(reopened.list().map(({ state }) => state)).toEqual(['ready', 'lost']);
});

test('a change that arrives while a closed file is finished stays in the log', async () => {
  await using place = scratch();
  const limits = { logSegmentBytesMax: 4_096, logSegmentsBehindMax: 0 };
  const store = await place.open({ ...limits, openPartitionFilesMax: 1 });
  for (const partition of [0, 1]) await store.create('test', partition, 'ready');
  await store.write([write('first', 'v', 1, 0)]);
  let changed = false;
  onTestFinished(() => void vi.restoreAllMocks());
  spyAround(EmptyPartitions.prototype, 'remove', {
    before: async (named) => {
      if (changed || (named as PartitionRef).partition !== 0) return;
      changed = true;
      await store.setState('test', 0, 'lost');
    },
  });
  for (let ms = 2; ms < 100 && !changed; ms += 1) {
    await store.write([write(`k-${ms}`, 'v'.repeat(500), ms, 1)]);
  }
  expect(changed).toBe(true);
  // Each new segment allows the removal of older ones.
  for (let ms = 100; ms < 150; ms += 1) {
    await store.write([write(`k-${ms}`, 'v'.repeat(500), ms, 1)]);
  }
  expect(store.info('test', 0)?.state).toBe('lost');
  const reopened = await place.image().open();
  expect(reopened.info('test', 0)?.state).toBe('lost');
});

test('many changes of states, barriers and floors cause no checkpoint', async () => {
  await using place = scratch();
  const store = await place.open();
  const all = Array.from({ length: 20 }, (_, partition) => partition);
  for (const partition of all) await store.create('test', partition, 'filling');
  const checkpoint = vi.spyOn(PartitionWal.prototype, 'checkpoint');
  try {
    await Promise.all(all.map((partition) => store.setState('test', partition, 'ready')));
    await Promise.all(all.map((partition) => store.raiseBarrier('test', partition, 5)));
    await Promise.all(all.map((partition) => store.raiseFloor('test', partition, 5)));
    expect(checkpoint).toHaveBeenCalledTimes(0);
  } finally {
    checkpoint.mockRestore();
  }
  expect(new Set(store.list().map(({ state, floorMs }) => `${state} ${floorMs}`))).toEqual(
    new Set(['ready 5']),
  );
});

test('a change is refused as absent when its partition is dropped meanwhile', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const changing = store.setState('test', 0, 'filling');
  const dropping = store.drop('test', 0);
  await expect(changing).rejects.toMatchObject({ code: 'PARTITION_ABSENT' });
  await dropping;
  await expect(store.setState('test', 0, 'ready')).rejects.toMatchObject({
    code: 'PARTITION_ABSENT',
  });
});
