// Tests floors: they refuse what the purged tombstones refused, for every way in which a write can
// arrive.
import { stampTieMax } from '@ringwright/base/stamp';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyPartition, cutWals, scratch, textOf, write } from '../test/support/scratch-store.ts';
import { PartitionFile } from './file/partition-file.ts';
import { PartitionWal } from './file/partition-wal.ts';
import type { Write } from './file/record.ts';
import type { Store } from './store.ts';

async function filled(store: Store): Promise<void> {
  await store.create('test', 0, 'ready');
  const deletions = Array.from({ length: 3_000 }, (_, i) => write(`gone-${i}`, null, 10 + i));
  await store.write([write('kept', 'v', 5), ...deletions, write('young', null, 9_000)]);
}

async function raise(store: Store, ms: number): Promise<void> {
  await store.raiseBarrier('test', 0, ms);
  await store.raiseFloor('test', 0, ms);
}

test('tombstones up to the floor are purged, and absent keys count as deleted', async () => {
  await using place = scratch();
  const store = await place.open();
  await filled(store);
  await expect(store.raiseFloor('test', 0, 5_000)).rejects.toMatchObject({
    code: 'VALUE_OUT_OF_RANGE',
  });
  await raise(store, 5_000);
  const info = store.info('test', 0);
  expect(info).toMatchObject({ rows: 1, tombstones: 1, floorMs: 5_000, barrierMs: 5_000 });
  const stale = { kind: 'stale', ms: 5_000, tie: stampTieMax };
  const outcomes = await store.write([
    write('gone-7', 'old', 7),
    write('never seen', 'late', 5_000),
    write('kept', 'newer', 6),
    write('gone-8', 'new', 5_001),
  ]);
  expect(outcomes).toEqual([stale, stale, { kind: 'applied' }, { kind: 'applied' }]);
  expect(textOf(store, 'gone-7')).toBeUndefined();
  expect(textOf(store, 'kept')).toBe('newer');
  await store.raiseBarrier('test', 0, 1);
  expect(store.info('test', 0)).toMatchObject({ barrierMs: 5_000 });
});

test('a record can be written for a key whose cached tombstone was purged', async () => {
  await using place = scratch();
  const store = await place.open();
  await filled(store);
  await store.close();
  const reopened = await place.open();
  expect([textOf(reopened, 'gone-7'), textOf(reopened, 'gone-7')]).toEqual([null, null]);
  await raise(reopened, 5_000);
  expect(textOf(reopened, 'gone-7')).toBeUndefined();
  await reopened.write([write('gone-7', 'new', 6_000)]);
  await reopened.close();
  expect(textOf(await place.open(), 'gone-7')).toBe('new');
});

test('a crash before or after a floor is raised brings no deleted record back', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.write([write('k', 'v', 1)]);
  await store.write([write('k', null, 2)]);
  const before = place.image();
  await raise(store, 100);
  const after = place.image();
  const lost = place.image();
  cutWals(lost.directory, () => 0);
  for (const [image, floorMs] of [
    [before, 0],
    [after, 100],
    [lost, 100],
  ] as const) {
    const reopened = await image.open();
    expect(reopened.info('test', 0)?.floorMs).toBe(floorMs);
    expect(textOf(reopened, 'k') ?? null).toBeNull();
    const [outcome] = await reopened.write([write('k', 'v', 1)]);
    expect(outcome?.kind).toBe('stale');
  }
});

test('a copy carries its floor, so a lagging file brings no deleted record back', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = [await from.open(), await to.open()];
  await source.create('test', 0, 'ready');
  await target.create('test', 0, 'filling');
  await source.write([write('k', null, 2), write('kept', 'v', 3)]);
  await target.write([write('k', 'resurrected', 1), write('fresh', 'new', 200)]);
  await target.raiseBarrier('test', 0, 150);
  await raise(source, 100);
  await copyPartition(source, target);
  expect(textOf(target, 'k')).toBeUndefined();
  expect(textOf(target, 'kept')).toBe('v');
  expect(textOf(target, 'fresh')).toBe('new');
  // The barrier of the old file survives, and the floor is that of the copy.
  expect(target.info('test', 0)).toMatchObject({ floorMs: 100, barrierMs: 150 });
});

test('tombstones that a crash left below the floor are purged once, on request', async () => {
  await using place = scratch();
  await using other = scratch();
  const [store, alike] = [await place.open(), await other.open()];
  for (const one of [store, alike]) {
    await one.create('test', 0, 'ready');
    await one.write([write('gone', null, 20), write('kept', 'v', 30)]);
    await one.raiseBarrier('test', 0, 100);
  }
  await alike.raiseFloor('test', 0, 100);
  const drop = vi.spyOn(PartitionFile.prototype, 'dropTombstones');
  onTestFinished(() => drop.mockRestore());
  drop.mockImplementationOnce(() => {
    throw new Error('a crash');
  });
  await expect(store.raiseFloor('test', 0, 100)).rejects.toThrow('a crash');
  expect(store.info('test', 0)).toMatchObject({ floorMs: 100, tombstones: 1 });
  expect(await store.raiseFloor('test', 0, 100)).toBe(true);
  expect(store.info('test', 0)!.digest).toBe(alike.info('test', 0)!.digest);
  drop.mockClear();
  expect(await store.raiseFloor('test', 0, 100)).toBe(false);
  expect(drop, 'it would scan all rows').not.toHaveBeenCalled();
});

test('a purge scans a part of the rows per turn, and no rows without a reason', async () => {
  await using place = scratch();
  const store = await place.openReady();
  await store.create('test', 1, 'ready');
  const rows = Array.from({ length: 3_000 }, (_, index) => write(`kept ${index}`, 'v', 30));
  await store.write(rows);
  const drop = vi.spyOn(PartitionFile.prototype, 'dropTombstones');
  onTestFinished(() => drop.mockRestore());
  expect(await store.raiseFloor('test', 0, 0)).toBe(false);
  expect(await store.raiseFloor('test', 1, 0)).toBe(false);
  expect(drop, 'a floor of 0 purges nothing').not.toHaveBeenCalled();
  await raise(store, 50);
  expect(drop.mock.results, 'there are no tombstones').toMatchObject([{ value: null }]);
  drop.mockClear();
  await store.write([write('gone', null, 60)]);
  await raise(store, 100);
  expect(store.info('test', 0)).toMatchObject({ rows: 3_000, tombstones: 0 });
  const seqs = drop.mock.results.map(({ value }) => value as number | null);
  expect(seqs).toEqual([1_024, 2_048, 3_001, null]);
});

test('a purge does not wait for the disk on the serving thread', async () => {
  await using place = scratch();
  const store = await place.openReady({ walBytesMax: 65_536 });
  await store.write(Array.from({ length: 5_000 }, (_, index) => write(`k${index}`, null, 30)));
  const aside = vi.spyOn(PartitionWal.prototype, 'checkpointInPool');
  const blocking = vi.spyOn(PartitionWal.prototype, 'checkpoint');
  onTestFinished(() => void vi.restoreAllMocks());
  await raise(store, 100);
  expect(store.info('test', 0)).toMatchObject({ rows: 0, tombstones: 0 });
  expect(aside).toHaveBeenCalled();
  expect(blocking).not.toHaveBeenCalled();
});

test('records that expired by the floor are purged, and the counters follow', async () => {
  await using place = scratch();
  await using other = scratch();
  const store = await place.openReady();
  const expires = (key: string, ms: number, expiresMs: number) => ({
    ...write(key, 'value', ms),
    expiresMs,
  });
  await store.write([
    expires('long ago', 10, 50),
    expires('at the floor', 10, 100),
    expires('later', 10, 101),
    write('never', 'v', 10),
    write('gone', null, 20),
  ]);
  await raise(store, 100);
  expect(textOf(store, 'long ago')).toBeUndefined();
  expect(textOf(store, 'at the floor')).toBeUndefined();
  expect(textOf(store, 'later')).toBe('value');
  const [again] = await store.write([expires('long ago', 10, 50)]);
  expect(again).toEqual({ kind: 'stale', ms: 100, tie: stampTieMax });
  const alike = await other.openReady();
  await alike.write([expires('later', 10, 101), write('never', 'v', 10)]);
  const { rows, tombstones, bytes, digest } = alike.info('test', 0)!;
  expect(store.info('test', 0)).toMatchObject({ rows, tombstones, bytes, digest });
});

test('promises of rounds that never ended are purged too, also on disk', async () => {
  await using place = scratch();
  const store = await place.openReady();
  const promise = (key: string, ms: number): Write => ({
    ...write(key, null, ms),
    isPreparedBallot: true,
  });
  await store.write([write('k', 'v', 5), write('gone', null, 6), write('other', 'v', 7)]);
  await store.write([promise('k', 40), promise('never written', 100), promise('other', 101)]);
  await store.close();
  const reopened = await place.open();
  expect(reopened.preparedBallots('test', 0)).toHaveLength(3);
  await raise(reopened, 100);
  expect(reopened.preparedBallots('test', 0)).toMatchObject([{ ms: 101 }]);
  const [late, refused] = await reopened.write([
    write('never written', 'v', 99),
    promise('other', 99),
  ]);
  expect([late?.kind, refused?.kind]).toEqual(['stale', 'promised']);
  await reopened.close();
  expect((await place.open()).preparedBallots('test', 0)).toMatchObject([{ ms: 101 }]);
});
