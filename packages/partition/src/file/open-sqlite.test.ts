// Tests that SQLite holds an open partition file exclusively, and what happens if another program
// does.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';

test('an open file is locked exclusively from its first read, without shared memory', async () => {
  await using place = scratch();
  const first = await place.openReady();
  await first.write([write('a', 'one', 1)]);
  const filesOf = (): string[] =>
    readdirSync(place.directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.startsWith('partitions'),
    );
  expect(filesOf().filter((name) => name.endsWith('-shm'))).toEqual([]);
  await first.close();
  const again = await place.open();
  expect(textOf(again, 'a')).toBe('one');
  expect(filesOf().filter((name) => name.endsWith('-shm'))).toEqual([]);
  const file = filesOf().find((name) => name.endsWith('data.db')) ?? '';
  const other = new Database(join(place.directory, file), { timeout: 0 });
  expect(() => other.prepare('SELECT * FROM meta').get()).toThrow('database is locked');
  other.close();
});

test('a file that another program has open is named, and opens when that has ended', async () => {
  await using place = scratch();
  const store = await place.open();
  for (const partition of [0, 1]) {
    await store.create('test', partition, 'ready');
    await store.write([write('a', 'one', 1, partition)]);
  }
  await store.close();
  const names = readdirSync(place.directory, { recursive: true, encoding: 'utf8' });
  const name = names.find((one) => one.startsWith('partitions/test/1/') && one.endsWith('data.db'));
  const file = join(place.directory, name ?? '');
  const other = new Database(file, { readonly: true });
  other.prepare('SELECT * FROM meta').get();
  await expect(place.open()).rejects.toMatchObject({
    code: 'SQLITE_BUSY',
    message: `${file}: database is locked`,
  });
  other.close();
  expect(textOf(await place.open(), 'a', 1)).toBe('one');
});
