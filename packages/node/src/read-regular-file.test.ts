import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, open, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { readBounded, readOwnFile, readPrivateFile, readRegularFile } from './read-regular-file.ts';

test('a file is read whole, but not beyond the limit', async () => {
  await using folder = await scratchFolder();
  const path = join(folder.path, 'file');
  const bytes = Buffer.alloc(600_000, 'ring');
  await writeFile(path, bytes);
  expect((await readRegularFile(path, bytes.length)).equals(bytes)).toBe(true);
  await symlink(path, join(folder.path, 'link'));
  expect(await readRegularFile(join(folder.path, 'link'), bytes.length)).toHaveLength(600_000);
  await expect(readRegularFile(path, bytes.length - 1)).rejects.toMatchObject({
    code: 'FILE_UNFIT',
    message: expect.stringMatching(/600000 bytes.*599999/),
  });
  await writeFile(path, '');
  expect(await readRegularFile(path, 10)).toHaveLength(0);
});

test('pipes, sockets, directories and devices are refused at once', async () => {
  await using folder = await scratchFolder();
  const fifo = join(folder.path, 'fifo');
  execFileSync('mkfifo', [fifo]);
  const directory = join(folder.path, 'directory');
  await mkdir(directory);
  const socket = join(folder.path, 'socket');
  const server = createServer();
  await new Promise<void>((done) => server.listen(socket, done));
  for (const [path, kind] of [
    [fifo, 'pipe'],
    [socket, 'socket'],
    [directory, 'directory'],
    ['/dev/zero', 'device'],
  ] as const) {
    await expect(readRegularFile(path, 1_000)).rejects.toMatchObject({
      code: 'FILE_UNFIT',
      message: expect.stringMatching(`${path} is a ${kind}`),
    });
  }
  await new Promise((done) => server.close(done));
});

test('a file above its limit is refused by its size alone', async () => {
  await using folder = await scratchFolder();
  // Sparse: reading it would take a terabyte.
  const path = join(folder.path, 'sparse');
  const sparse = await open(path, 'w');
  await sparse.truncate(2 ** 40);
  await sparse.close();
  await expect(readRegularFile(path, 2 ** 20)).rejects.toMatchObject({
    code: 'FILE_UNFIT',
    details: { bytes: 2 ** 40 },
  });
});

test('an open descriptor is read to its end, or to the limit', async () => {
  await using folder = await scratchFolder();
  const file = await open(join(folder.path, 'file'), 'w+');
  await file.writeFile('by descriptor');
  const path = `/dev/fd/${file.fd}`;
  expect(String(await readRegularFile(path, 100))).toBe('by descriptor');
  await expect(readRegularFile(path, 12)).rejects.toMatchObject({ code: 'FILE_UNFIT' });
  await file.close();
});

test('an endless stream is abandoned at the limit', async () => {
  let given = 0;
  const endless = Readable.from(
    (function* () {
      for (;;) {
        given += 1;
        yield Buffer.alloc(1_000);
      }
    })(),
  );
  const refused = readBounded(endless, 'stdin', 10_000);
  await expect(refused).rejects.toMatchObject({ code: 'FILE_UNFIT' });
  expect(given).toBeLessThan(100);
});

test('a missing file is reported as Node reports it', async () => {
  await using folder = await scratchFolder();
  const missing = readRegularFile(join(folder.path, 'missing'), 10);
  await expect(missing).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a file without a size, as in /proc, is read up to the limit', async () => {
  expect((await readRegularFile('/proc/self/status', 100_000)).length).toBeGreaterThan(0);
  await expect(readRegularFile('/proc/self/status', 5)).rejects.toMatchObject({
    code: 'FILE_UNFIT',
  });
});

test('a secret that others may read is refused, with the command that fixes it', async ({
  skip,
}) => {
  await using folder = await scratchFolder();
  const path = join(folder.path, 'secret');
  await writeFile(path, 'secret', { mode: 0o600 });
  expect(String(await readPrivateFile(path, 100))).toBe('secret');
  for (const mode of [0o644, 0o604, 0o602]) {
    await chmod(path, mode);
    await expect(readPrivateFile(path, 100)).rejects.toMatchObject({
      code: 'FILE_UNFIT',
      message: expect.stringContaining(`${path} has mode 0${mode.toString(8)}`),
      hint: `chmod 600 ${path}`,
    });
  }
  if (process.getuid?.() !== 0) skip('only root gives files away');
  await chmod(path, 0o640);
  expect(String(await readPrivateFile(path, 100)), 'root lets a group read').toBe('secret');
  await chown(path, 12_345, 0);
  await expect(readPrivateFile(path, 100)).rejects.toMatchObject({ code: 'FILE_UNFIT' });
});

test('a file of a data directory is read whole, and what took its place is named', async () => {
  await using folder = await scratchFolder();
  const path = join(folder.path, 'file');
  await writeFile(path, 'ring');
  expect(String(await readOwnFile(path))).toBe('ring');
  const fifo = join(folder.path, 'fifo');
  execFileSync('mkfifo', [fifo]);
  for (const other of [fifo, folder.path]) {
    await expect(readOwnFile(other)).rejects.toMatchObject({
      code: 'DISK_FAILED',
      message: expect.stringContaining(`${other} is a `),
      hint: expect.stringContaining('refill the device'),
    });
  }
  await expect(readOwnFile(join(folder.path, 'gone'))).rejects.toMatchObject({ code: 'ENOENT' });
});
