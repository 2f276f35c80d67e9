// Dropped tombstones: the floor means what they meant, for every way a write can come.
import { join } from 'node:path';
import { stampTieMax } from '@ringwright/base/stamp';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { copyPartition, cutWals, scratch, textOf, write } from '../test/support/scratch-store.ts';
import { metaChecksumOfFormat1, schemaStatements } from './schema.ts';
import type { Store } from './store.ts';

async function filled(store: Store): Promise<void> {
  await store.create('test', 0, 'ready');
  const deletions = Array.from({ length: 3_000 }, (_, i) => write(`gone-${i}`, null, 10 + i));
  await store.write([write('kept', 'v', 5), ...deletions, write('young', null, 9_000)]);
}

async function raise(store: Store, ms: number): Promise<void> {
  store.promiseFloor('test', 0, ms);
  await store.raiseFloor('test', 0, ms);
}

test('tombstones up to the floor go; what is not here counts as deleted then', async () => {
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
  store.promiseFloor('test', 0, 1);
  expect(store.info('test', 0)).toMatchObject({ barrierMs: 5_000 });
});

test('a crash at any moment leaves floor or tombstones; replay brings nothing back', async () => {
  await using place = scratch();
  const store = await place.open();
  await store.create('test', 0, 'ready');
  await store.write([write('k', 'v', 1)]);
  await store.write([write('k', null, 2)]);
  const before = place.image();
  await raise(store, 100);
  const after = place.image();
  const lost = place.image();
  cutWals(lost.directory, () => 0);
  for (const image of [before, after, lost]) {
    const reopened = await image.open();
    expect(textOf(reopened, 'k') ?? null).toBeNull();
    const [outcome] = await reopened.write([write('k', 'v', 1)]);
    expect(outcome?.kind).toBe('stale');
  }
});

test('a copy carries the floor: a file that lags cannot bring back what it missed', async () => {
  await using from = scratch();
  await using to = scratch();
  const [source, target] = [await from.open(), await to.open()];
  await source.create('test', 0, 'ready');
  await target.create('test', 0, 'filling');
  await source.write([write('k', null, 2), write('kept', 'v', 3)]);
  await target.write([write('k', 'resurrected', 1), write('fresh', 'new', 200)]);
  target.promiseFloor('test', 0, 150);
  await raise(source, 100);
  await copyPartition(source, target);
  expect(textOf(target, 'k')).toBeUndefined();
  expect(textOf(target, 'kept')).toBe('v');
  expect(textOf(target, 'fresh')).toBe('new');
  // The promise of the present file outlives it; the floor is the copy's.
  expect(target.info('test', 0)).toMatchObject({ floorMs: 100, barrierMs: 150 });
});

test('a file of format 1 is brought up to date when it is opened', async () => {
  await using place = scratch();
  const first = await place.open();
  await first.create('test', 0, 'ready');
  await first.write([write('k', 'v', 1)]);
  const { incarnation } = first.info('test', 0) ?? { incarnation: '' };
  await first.close();
  const file = join(place.directory, 'partitions', 'test', '0', incarnation, 'data.db');
  const db = new Database(file);
  db.pragma('journal_mode = DELETE');
  const meta = db.prepare('SELECT * FROM meta').get() as Parameters<
    typeof metaChecksumOfFormat1
  >[0];
  const [createMeta = ''] = schemaStatements;
  db.exec('DROP TABLE meta');
  db.exec(createMeta.replace(/, (barrier|floor)_ms INTEGER NOT NULL/g, ''));
  const { keyspace, partition, life, state, seq, rows, tombstones, bytes, digest } = meta;
  const values = [keyspace, partition, incarnation, life, state, seq, rows, tombstones, bytes];
  const rest = [digest, meta.highest_ms, metaChecksumOfFormat1(meta)];
  db.prepare('INSERT INTO meta VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').run(
    ...values,
    ...rest,
  );
  db.pragma('user_version = 1');
  db.pragma('journal_mode = WAL');
  db.close();
  const again = await place.open();
  expect(textOf(again, 'k')).toBe('v');
  expect(again.info('test', 0)).toMatchObject({ incarnation, floorMs: 0, rows: 1 });
});
