// Tests that work is refused before a file system runs out of inodes, and that an unwritable
// directory is reported.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { diskReserveInodes } from '@ringwright/base/limits-store';
import { expect, onTestFinished, test } from 'vitest';
import { DiskSpace } from './disk-space.ts';

/** Replaces the numbers of inodes that the system reports. */
function reportInodes(files: number, ffree: number): void {
  const { statfs } = fs;
  onTestFinished(() => {
    fs.statfs = statfs;
    module.syncBuiltinESMExports();
  });
  const report = async (path: string) => Object.assign(await statfs(path), { files, ffree });
  fs.statfs = report as unknown as typeof statfs;
  module.syncBuiltinESMExports();
}

test('below the reserve of inodes, work is refused although bytes are free', async () => {
  reportInodes(5_000, diskReserveInodes - 1);
  const disk = new DiskSpace(tmpdir(), 0);
  await expect(disk.reserve(0)).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: '999 inodes are free, 1000 are needed',
  });
  expect(disk.low).toBe(true);
});

test.each([
  ['with the reserve of inodes', 5_000, diskReserveInodes],
  ['on a file system without a fixed number of inodes', 0, 0],
])('%s work is admitted', async (_case, files, ffree) => {
  reportInodes(files, ffree);
  const disk = new DiskSpace(tmpdir(), 0);
  await disk.require();
  expect(disk.low).toBe(false);
});

test('a path in which no file can be created is reported with the reason', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'disk-space-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  expect(await new DiskSpace(directory, 0).unwritable()).toBeNull();
  const file = join(directory, 'file');
  writeFileSync(file, '');
  expect(await new DiskSpace(file, 0).unwritable()).toMatch(/^EACCES: .*file'$/);
});
