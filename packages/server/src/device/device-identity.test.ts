// Tests that a data directory always belongs to the same device.
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { loadIdentity } from './device-identity.ts';

const address = { ip: '10.0.0.1', port: 6200 };
const code = (name: string) => expect.objectContaining({ code: name });

test('a device finds its identity again, with or without a name', async () => {
  await using folder = await scratchFolder();
  const unnamed = join(folder.path, 'deep', 'unnamed');
  const first = await loadIdentity(unnamed, address, undefined);
  expect(first).toEqual({ name: null, address, born: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(await loadIdentity(unnamed, address, undefined)).toEqual(first);

  const named = await loadIdentity(join(folder.path, 'named'), address, 'sdb');
  expect(named.born, 'each directory has its own birth id').not.toBe(first.born);
  const moved = { ip: '10.0.0.9', port: 7000 };
  const again = await loadIdentity(join(folder.path, 'named'), moved, 'sdb');
  expect(again, 'a named device may change its address').toEqual({ ...named, address: moved });
});

test('another device is refused, and the file stays unchanged', async () => {
  await using folder = await scratchFolder();
  await loadIdentity(folder.path, address, 'sdb');
  const before = await readFile(join(folder.path, 'device.json'), 'utf8');
  for (const name of ['sdc', undefined]) {
    await expect(loadIdentity(folder.path, address, name)).rejects.toThrow(
      code('DATA_DIR_OF_ANOTHER_DEVICE'),
    );
  }
  expect(await readFile(join(folder.path, 'device.json'), 'utf8')).toBe(before);
});

test.each(['', '{', '{"format":2,"device":"sdb","born":"b"}', '{"device":"sdb"}'])(
  'an invalid file is refused and never replaced: %s',
  async (text) => {
    await using folder = await scratchFolder();
    const file = join(folder.path, 'device.json');
    await writeFile(file, text);
    await expect(loadIdentity(folder.path, address, 'sdb')).rejects.toThrow(code('DISK_FAILED'));
    expect(await readFile(file, 'utf8')).toBe(text);
  },
);

test('a disk error is not taken for a missing file', async () => {
  await using folder = await scratchFolder();
  // Reading a directory as a file fails for root too, as a failing disk would.
  await mkdir(join(folder.path, 'device.json'));
  await chmod(folder.path, 0o700);
  await expect(loadIdentity(folder.path, address, 'sdb')).rejects.toThrow(code('DISK_FAILED'));
});

test('a pipe in place of the file is refused without waiting for a writer', async () => {
  await using folder = await scratchFolder();
  execFileSync('mkfifo', [join(folder.path, 'device.json')]);
  await expect(loadIdentity(folder.path, address, 'sdb')).rejects.toThrow(code('DISK_FAILED'));
});
