// Files that are turned back into earlier formats here are brought up to date when they are opened.
// Those that earlier programs wrote themselves are in test/upgrade.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type Scratch, scratch, textOf, write } from '../../test/support/scratch-store.ts';
import { metaChecksumOfFormat1, schemaStatements } from './schema.ts';

const RECORDS_BEFORE_3 =
  'CREATE TABLE records (seq INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, ms INTEGER NOT NULL, ' +
  'tie INTEGER NOT NULL, value BLOB, hash BLOB NOT NULL) STRICT';

/** A partition with two records, whose file is then turned into one of an earlier format. */
async function written(place: Scratch, change: (db: Database.Database) => void): Promise<void> {
  const store = await place.open();
  await store.create('test', 0, 'ready');
  await store.write([write('k', 'v', 1), write('gone', null, 2)]);
  const { incarnation } = store.info('test', 0) ?? { incarnation: '' };
  await store.close();
  const db = new Database(join(place.directory, 'partitions/test/0', incarnation, 'data.db'));
  db.pragma('journal_mode = DELETE');
  change(db);
  db.pragma('journal_mode = WAL');
  db.close();
}

function toFormat2(db: Database.Database): void {
  db.exec('DROP INDEX records_expiring');
  db.exec('DROP TABLE promises');
  db.exec('CREATE TEMP TABLE kept AS SELECT seq, key, ms, tie, value, hash FROM records');
  db.exec('DROP TABLE records');
  db.exec(RECORDS_BEFORE_3);
  db.exec('INSERT INTO records SELECT * FROM kept');
  db.pragma('user_version = 2');
}

function toFormat1(db: Database.Database): void {
  toFormat2(db);
  const meta = db.prepare('SELECT * FROM meta').get() as Record<string, string | number>;
  const [createMeta = ''] = schemaStatements;
  db.exec('DROP TABLE meta');
  db.exec(createMeta.replace(/, (barrier|floor)_ms INTEGER NOT NULL/g, ''));
  const { barrier_ms: _, floor_ms: __, ...kept } = meta;
  const checksum = metaChecksumOfFormat1(kept as Parameters<typeof metaChecksumOfFormat1>[0]);
  const values = Object.values({ ...kept, checksum });
  db.prepare(`INSERT INTO meta VALUES (${values.map(() => '?').join(', ')})`).run(...values);
  db.pragma('user_version = 1');
}

test.each([
  ['1', toFormat1],
  ['2', toFormat2],
])('a file of format %s is brought up to date when it is opened', async (_, change) => {
  await using place = scratch();
  await written(place, change);
  const store = await place.open();
  expect(textOf(store, 'k')).toBe('v');
  expect(store.read('test', 0, Buffer.from('k'))).toMatchObject({ expiresMs: 0, origin: null });
  expect(store.info('test', 0)).toMatchObject({ floorMs: 0, rows: 1, tombstones: 1 });
  const promise = { ...write('k', null, 50), isPromise: true };
  const expiring = { ...write('new', 'v', 60), expiresMs: 90, origin: { ms: 55, tie: 1 } };
  await store.write([promise, expiring]);
  await store.close();
  const again = await place.open();
  expect(again.read('test', 0, Buffer.from('new'))).toMatchObject({
    expiresMs: 90,
    origin: { ms: 55, tie: 1 },
  });
  const [late] = await again.write([write('k', 'late', 40)]);
  expect(late).toEqual({ kind: 'promised', ms: 50, tie: 1 });
  expect(again.expired('test', 0, 89)).toBe(0);
  expect(again.expired('test', 0, 90)).toBe(1);
});

test('a file that says it is of format 1 and is not is left alone, and refused', async () => {
  await using place = scratch();
  await written(place, (db) => db.pragma('user_version = 1'));
  place.damaged();
  const store = await place.open();
  expect(store.damaged()).toMatchObject([{ error: { code: 'PARTITION_DAMAGED' } }]);
});
