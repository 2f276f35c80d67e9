// Tests the check of the data directory: an unusable one is refused with a reason, and one that
// other users can access is closed to them.
import fs, { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import module from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { prepareDataDirectory } from './data-directory.ts';

const anywhere = { mountCheck: false };
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o7777;

test('a new directory is private, and one open to others is closed and reported', async () => {
  await using folder = await scratchFolder();
  const data = join(folder.path, 'deep', 'sd1');
  expect(await prepareDataDirectory(data, anywhere)).toEqual([]);
  expect(await modeOf(data)).toBe(0o700);
  await chmod(data, 0o755);
  await writeFile(join(data, 'device.json'), '{}', { mode: 0o600 });
  const [lock, key] = [join(data, 'lock.db'), join(data, 'device-key.pem')];
  for (const file of [lock, key]) await writeFile(file, '', { mode: 0o644 });
  const notes = await prepareDataDirectory(data, anywhere);
  expect(notes.map(({ path, mode }) => [path, mode])).toEqual([
    [data, '0755'],
    [lock, '0644'],
    [key, '0644'],
  ]);
  expect(await modeOf(data)).toBe(0o700);
  for (const file of [lock, key]) expect(await modeOf(file)).toBe(0o600);
  expect(await prepareDataDirectory(data, anywhere)).toEqual([]);
});

test('a directory with foreign files is refused and left unchanged', async () => {
  await using folder = await scratchFolder();
  for (const name of ['d', 'c', 'b', 'site.html']) await writeFile(join(folder.path, name), '');
  await chmod(folder.path, 0o755);
  await expect(prepareDataDirectory(folder.path, anywhere)).rejects.toMatchObject({
    code: 'DATA_DIR_FOREIGN',
    exit: 4,
    message: `${folder.path} is not a data directory: no device.json, but b, c, d, …`,
    hint: expect.stringContaining('--data takes an empty directory'),
  });
  expect(await modeOf(folder.path)).toBe(0o755);
});

test("a device's directory without its device.json is refused too", async () => {
  await using folder = await scratchFolder();
  await mkdir(join(folder.path, 'partitions'));
  await expect(prepareDataDirectory(folder.path, anywhere)).rejects.toMatchObject({
    message: expect.stringContaining('no device.json, but partitions'),
  });
});

test('files of a fresh file system, a killed first start or a kept key are accepted', async () => {
  await using folder = await scratchFolder();
  await mkdir(join(folder.path, 'lost+found'));
  await writeFile(join(folder.path, 'device.json.new'), '{"for');
  await writeFile(join(folder.path, 'device-key.pem'), '', { mode: 0o600 });
  await chmod(folder.path, 0o755);
  expect(await prepareDataDirectory(folder.path, anywhere)).toHaveLength(1);
  expect(await modeOf(folder.path)).toBe(0o700);
});

test('a directory with the sticky bit is reported and left unchanged', async () => {
  await using folder = await scratchFolder();
  await chmod(folder.path, 0o1777);
  const notes = await prepareDataDirectory(folder.path, anywhere);
  expect(notes).toEqual([expect.objectContaining({ path: folder.path, mode: '1777' })]);
  expect(await modeOf(folder.path)).toBe(0o1777);
});

test('a file in place of the directory gives DISK_FAILED with the path', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  for (const data of [file, join(file, 'below')]) {
    await expect(prepareDataDirectory(data, anywhere)).rejects.toMatchObject({
      code: 'DISK_FAILED',
      message: expect.stringContaining(`the data directory ${data} cannot be written`),
      hint: expect.stringContaining('a file exists'),
    });
  }
});

test.skipIf(process.getuid?.() !== 0)(
  'a directory of another user is refused with a chown hint',
  async () => {
    await using folder = await scratchFolder();
    await chmod(folder.path, 0o755);
    await mkdir(join(folder.path, 'sd1'), { mode: 0o700 });
    process.seteuid?.(12_345);
    try {
      for (const [name, help] of [
        ['sd1', 'chown that directory to this user'],
        ['new', 'create that directory, and chown it to this user'],
      ] as const) {
        await expect(prepareDataDirectory(join(folder.path, name), anywhere)).rejects.toMatchObject(
          {
            code: 'DISK_FAILED',
            message: expect.stringContaining('EACCES'),
            hint: expect.stringContaining(`user id 12345: ${help}`),
          },
        );
      }
    } finally {
      process.seteuid?.(0);
    }
  },
);

test.skipIf(process.platform !== 'linux')('a path below /proc gives DISK_FAILED', async () => {
  for (const data of ['/proc/x', '/proc/x/y']) {
    await expect(prepareDataDirectory(data, anywhere)).rejects.toMatchObject({
      code: 'DISK_FAILED',
      message: expect.stringContaining('ENOENT'),
    });
  }
});

test('--mount-check accepts only a mount point, and creates no directory', async () => {
  await using folder = await scratchFolder();
  const absent = join(folder.path, 'absent');
  for (const data of [folder.path, absent]) {
    await expect(prepareDataDirectory(data, { mountCheck: true })).rejects.toMatchObject({
      code: 'DATA_DIR_NOT_MOUNTED',
      message: expect.stringContaining(data),
    });
  }
  await expect(stat(absent)).rejects.toMatchObject({ code: 'ENOENT' });
  // A mount point on every Linux, writable by all users. Other programs may have files there.
  const mounted = prepareDataDirectory('/dev/shm', { mountCheck: true }).then(
    (notes) => notes.length,
    (error: unknown) => error,
  );
  expect([1, expect.objectContaining({ code: 'DATA_DIR_FOREIGN' })]).toContainEqual(await mounted);
});

test('the entries of all new directories above the data directory are synced', async () => {
  await using folder = await scratchFolder();
  const synced: unknown[] = [];
  const { open } = fs;
  onTestFinished(() => {
    fs.open = open;
    module.syncBuiltinESMExports();
  });
  fs.open = (...args) => {
    synced.push(args[0]);
    return open(...args);
  };
  module.syncBuiltinESMExports();
  const [outer, inner] = [join(folder.path, 'new'), join(folder.path, 'new', 'a')];
  await prepareDataDirectory(join(inner, 'b'), { mountCheck: false });
  expect(synced).toEqual([folder.path, outer, inner]);
});
