// Tests that SQLite holds an open partition file exclusively.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { scratch, textOf, write } from '../../test/support/scratch-store.ts';

test('an open file is locked exclusively from its first read, without shared memory', async () => {
  await using place = scratch();
  const first = await place.open();
  await first.create('test', 0, 'ready');
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
