// Tests that the log and the partitions of another device are refused before anything is opened.
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { loadIdentity } from './device-identity.ts';
import { checkOwnedFolders, markOwnedFolders } from './owned-folders.ts';

const address = { ip: '10.0.0.1', port: 6200 };

async function newDevice(directory: string, name: string): Promise<string> {
  await loadIdentity(directory, address, name);
  for (const folder of ['log', 'partitions']) await mkdir(join(directory, folder));
  await checkOwnedFolders(directory);
  await markOwnedFolders(directory);
  await checkOwnedFolders(directory);
  return directory;
}

test.each(['log', 'partitions'])(
  '%s of another device is refused, and stays as it is',
  async (name) => {
    await using scratch = await scratchFolder();
    const one = await newDevice(join(scratch.path, 'one'), 'sdb');
    const other = await newDevice(join(scratch.path, 'other'), 'sdc');
    await rename(join(one, name), join(scratch.path, 'aside'));
    await rename(join(other, name), join(one, name));
    await rename(join(scratch.path, 'aside'), join(other, name));
    const mark = await readFile(join(one, name, 'device.json'), 'utf8');
    for (const directory of [one, other]) {
      await expect(checkOwnedFolders(directory)).rejects.toMatchObject({
        code: 'DATA_DIR_OF_ANOTHER_DEVICE',
        message: expect.stringContaining(join(directory, name)),
      });
    }
    expect(await readFile(join(one, name, 'device.json'), 'utf8')).toBe(mark);
  },
);

test('the log of an earlier life is refused, and a folder without a copy is accepted', async () => {
  await using scratch = await scratchFolder();
  const old = await newDevice(join(scratch.path, 'old'), 'sdb');
  const fresh = join(scratch.path, 'fresh');
  await loadIdentity(fresh, address, 'sdb');
  await checkOwnedFolders(fresh);
  await rename(join(old, 'log'), join(fresh, 'log'));
  await expect(checkOwnedFolders(fresh)).rejects.toThrow("belongs to an earlier 'sdb'");
  await writeFile(join(fresh, 'log', 'device.json'), '');
  await expect(checkOwnedFolders(fresh)).rejects.toMatchObject({ code: 'DISK_FAILED' });
});
