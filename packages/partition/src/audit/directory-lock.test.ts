// Tests the lock of a data directory: it cannot be taken twice, and it needs no room on the disk.
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { lockDirectory } from './directory-lock.ts';

test('a directory is locked by an empty file that only its owner can access', async () => {
  await using folder = await scratchFolder();
  for (const turn of ['made', 'found']) {
    const lock = lockDirectory(folder.path);
    expect(() => lockDirectory(folder.path), turn).toThrow('is open in another process');
    expect(await readdir(folder.path), 'no journal').toEqual(['lock.db']);
    const { size, mode } = await stat(join(folder.path, 'lock.db'));
    expect(size).toBe(0);
    expect(mode & 0o777).toBe(0o600);
    lock.release();
  }
});

test('a lock that cannot be opened is named', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'lock.db');
  await mkdir(file);
  expect(() => lockDirectory(folder.path)).toThrow(`${file}: unable to open database file`);
});
