// Tests the scrub: reads report damage to it, and it marks the damaged file.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { copyPartition, scratch, textOf, write } from '../test/support/scratch-store.ts';
import { spyAround } from '../test/support/spy-around.ts';
import { PartitionFile } from './file/partition-file.ts';
import { readMeta } from './file/partition-meta.ts';
import { withChecksum } from './file/schema.ts';
import { syncsOfSystem } from './file/syncs.ts';
import { openStore } from './open-store.ts';
import { SideProcess } from './side/side-process.ts';
import type { Store } from './store.ts';

test('a read reports a damaged record to the scrub, which marks the file as damaged', async () => {
  await using place = scratch();
  const first = await place.open();
  for (const partition of [0, 1]) await first.create('test', partition, 'ready');
  await first.write([write('key', 'a value', 1, 0), write('key', 'fine', 1, 1)]);
  expect(await first.scrub('test', 0)).toMatchObject({ findings: [] });
  await first.close();
  place.damaged();
  overwrite(place.directory, (bytes) => {
    bytes[bytes.indexOf('a value')] = 0x41;
  });
  const store = await place.open();
  expect(store.damaged()).toEqual([]);
  expect(store.takeSuspects()).toEqual([]);
  expect(() => textOf(store, 'key', 0)).toThrow('does not match its hash');
  expect(store.takeSuspects()).toMatchObject([{ keyspace: 'test', partition: 0 }]);
  const { findings } = await store.scrub('test', 0);
  expect(findings.map(({ code }) => code)).toEqual(['RECORD_DAMAGED']);
  expect(store.damaged()).toMatchObject([{ partition: 0, error: { code: 'PARTITION_DAMAGED' } }]);
  expect((await store.scrub('test', 1)).findings).toEqual([]);
  expect(readdirSync(join(place.directory, 'staging'))).toEqual([]);
});

test.each<[string, (store: Store) => unknown]>([
  ['a read', (store) => expect(() => textOf(store, 'key', 0)).toThrow()],
  // Refused because of the damage: it has to look for the row that it replaces.
  ['a write', (store) => expect(store.write([write('key', 'new', 2, 0)])).rejects.toThrow()],
])('%s reports pages that SQLite cannot read to the scrub', async (_, meet) => {
  await using place = scratch();
  const first = await place.openReady();
  await first.write([write('key', 'a value', 1, 0)]);
  await first.close();
  place.damaged();
  overwrite(place.directory, (bytes) => {
    const pageBytes = bytes.readUInt16BE(16);
    const page = pageBytes * Math.floor(bytes.indexOf('a value') / pageBytes);
    bytes.fill(0xff, page, page + pageBytes);
  });
  const store = await place.open();
  expect(store.damaged()).toEqual([]);
  await meet(store);
  expect(store.takeSuspects()).toMatchObject([{ keyspace: 'test', partition: 0 }]);
  expect(store.takeSuspects(), 'reported once').toEqual([]);
  const { findings } = await store.scrub('test', 0);
  expect(findings.map(({ code }) => code)).toEqual(['PARTITION_DAMAGED']);
});

test('a file that the disk cannot read is damaged, and the store goes on', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1]) await store.create('test', partition, 'ready');
  vi.spyOn(PartitionFile.prototype, 'apply').mockImplementationOnce(() => {
    throw new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_READ');
  });
  const damage = { code: 'PARTITION_DAMAGED' };
  await expect(store.write([write('key', 'lost', 1, 0)])).rejects.toMatchObject(damage);
  expect(store.damaged()).toMatchObject([{ partition: 0, error: damage }]);
  await store.write([write('key', 'a value', 1, 1)]);
  expect(textOf(store, 'key', 1)).toBe('a value');
  await store.drop('test', 0);
});

test('damage of a file that a copy replaces meanwhile is not that of the copy', async () => {
  await using from = scratch();
  await using place = scratch();
  const [source, first] = [await from.openReady(), await place.openReady()];
  await source.write([write('theirs', 'copied', 1)]);
  await first.write([write('mine', 'kept', 2)]);
  await first.close();
  const db = new Database(fileOf(place.directory));
  const meta = withChecksum({ ...readMeta(db), digest: '0'.repeat(16) });
  db.prepare('UPDATE meta SET digest = ?, checksum = ?').run(meta.digest, meta.checksum);
  db.close();
  const store = await place.open();
  let audits = 0;
  spyAround(SideProcess.prototype, 'audit', {
    after: async () => {
      audits += 1;
      if (audits === 2) await copyPartition(source, store);
    },
  });
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await store.scrub('test', 0)).findings).toEqual([]);
  expect(audits).toBe(3);
  expect(store.damaged()).toEqual([]);
  expect([textOf(store, 'mine'), textOf(store, 'theirs')]).toEqual(['kept', 'copied']);
});

test('a failed sync before the copy of a scrub fails the store', async () => {
  await using place = scratch();
  const { directory } = place;
  const store = await openStore({ directory, newIncarnation: randomUUID });
  await store.create('test', 0, 'ready');
  await store.write([write('key', 'a value', 1)]);
  onTestFinished(() => void vi.restoreAllMocks());
  // A second sync would succeed, because Linux reports an error once per descriptor.
  vi.spyOn(syncsOfSystem, 'inPool').mockRejectedValueOnce(
    Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'fdatasync' }),
  );
  await expect(store.scrub('test', 0)).rejects.toMatchObject({ code: 'STORE_FAILED' });
  await expect(store.close()).rejects.toThrow('EIO');
  expect(textOf(await place.open(), 'key')).toBe('a value');
});

/** Changes the file of test/0 from outside the store. */
function overwrite(directory: string, change: (bytes: Buffer) => void): void {
  const file = fileOf(directory);
  const bytes = readFileSync(file);
  change(bytes);
  writeFileSync(file, bytes);
}

function fileOf(directory: string): string {
  const home = join(directory, 'partitions/test/0');
  const [incarnation = ''] = readdirSync(home).filter((name) => name !== 'CURRENT');
  return join(home, incarnation, 'data.db');
}
