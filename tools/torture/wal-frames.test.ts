// A WAL counts as moved into its file from a checkpoint until the next write. The power cut of the
// torture relies on it: cutting a moved WAL makes a file that mixes the states of two moments.
import { copyFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../test/support/scratch-folder.ts';
import { isInFile } from './wal-frames.ts';

const ids = Array.from({ length: 20 }, (_, index) => index + 1);

function opened(file: string): Database.Database {
  const db = new Database(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  return db;
}

/** Updates a row, which fills nearly a page, and the sum of all rows, which is on another page. */
function raise(db: Database.Database, id: number): void {
  db.transaction(() => {
    db.prepare('UPDATE records SET number = number + 1 WHERE id = ?').run(id);
    db.exec('UPDATE meta SET sum = sum + 1');
  })();
}

function missing(db: Database.Database): unknown {
  const found = db.prepare('SELECT (SELECT sum FROM meta) - sum(number) FROM records');
  return found.pluck().get();
}

test('a WAL counts as moved from a checkpoint until the next write', async () => {
  await using folder = await scratchFolder();
  const [file, copy] = ['data.db', 'copy.db'].map((name) => join(folder.path, name)) as [
    string,
    string,
  ];
  const db = opened(file);
  db.exec('CREATE TABLE meta (sum INTEGER); INSERT INTO meta VALUES (0)');
  db.exec('CREATE TABLE records (id INTEGER PRIMARY KEY, number INTEGER, bytes BLOB)');
  for (const id of ids) db.prepare('INSERT INTO records VALUES (?, 0, zeroblob(3000))').run(id);
  for (const id of ids) {
    raise(db, id);
    expect(isInFile(`${file}-wal`)).toBe(false);
    if (id % 4 !== 0) continue;
    db.pragma('wal_checkpoint(PASSIVE)');
    expect(isInFile(`${file}-wal`)).toBe(true);
  }
  for (const id of ids) raise(db, id);
  db.pragma('wal_checkpoint(PASSIVE)');
  expect(isInFile(`${file}-wal`)).toBe(true);
  for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`);
  truncateSync(`${copy}-wal`, Math.floor(statSync(`${copy}-wal`).size / 2));
  const torn = opened(copy);
  expect(missing(db)).toBe(0);
  expect(missing(torn)).toBeLessThan(0);
  db.close();
  torn.close();
});
