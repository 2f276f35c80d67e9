// Tests that every command refuses a pipe, device, folder or socket in place of a file at once.
import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';

const limit = { timeout: 30_000 };
const notAFile = { exit: 2, code: 'FILE_UNFIT' };
const noRing = { exit: 2, code: 'RING_UNKNOWN' };

test('a command that reads a file refuses a pipe, folder, socket or device', limit, async () => {
  const tool = await ringBuilderHere();
  const [pipe, folder, socket] = ['pipe', 'inner', 'socket'].map((name) => join(tool.folder, name));
  execFileSync('mkfifo', [pipe!]);
  await mkdir(folder!);
  const server = createServer();
  await new Promise<void>((done) => server.listen(socket, done));
  await tool.json('create cities --partitions 8 --partitioner murmur3-mod --replicas 1');
  for (const path of [pipe!, folder!, socket!, '/dev/zero']) {
    for (const command of [
      `import-swift ${path} objects`,
      `import objects --from-json ${path}`,
      `add cities --from ${path}`,
      `simulate ${path}`,
      `restore towns --from ${path}`,
      `restore towns --from x.ring --trust ${path}`,
    ]) {
      const refused = await tool.refusal(command);
      // A folder is a valid source for restore, but this folder has no ring.
      const isFolderOfRings = path === folder && command.startsWith('restore towns --from /');
      expect(refused, command).toEqual(isFolderOfRings ? noRing : notAFile);
    }
  }
  await new Promise((done) => server.close(done));
});

test('restore-data refuses an archive with a device in place of a file', limit, async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 3 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/sdb 1');
  await tool.json('commit cities -m first');
  const archive = join(tool.folder, 'archive');
  await mkdir(archive);
  const manifest = {
    format: 1,
    ring: 'cities',
    version: 1,
    partition: null,
    begunMs: 1,
    endedMs: 1,
  };
  const whole = JSON.stringify({ ...manifest, records: 0, bytes: 0, sha256: '' });
  await symlink('/dev/zero', join(archive, 'manifest.json'));
  expect(await tool.refusal(`restore-data cities --from ${archive}`)).toEqual(notAFile);
  await rm(join(archive, 'manifest.json'));
  await writeFile(join(archive, 'manifest.json'), whole);
  await symlink('/dev/zero', join(archive, 'records.bin'));
  expect(await tool.refusal(`restore-data cities --from ${archive}`)).toEqual(notAFile);
});

test('export-swift does not write over a pipe', limit, async () => {
  const tool = await ringBuilderHere();
  await tool.json('create cities --partition-power 3 --replicas 1');
  await tool.json('add cities r1z1-10.0.0.1:6200/sdb 1');
  await tool.json('commit cities -m first');
  const pipe = join(tool.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const args of [`export-swift cities ${pipe}`, `export-swift cities ${pipe} --builder`]) {
    expect(await tool.refusal(`${args} --yes`)).toEqual(notAFile);
  }
  expect((await stat(pipe)).isFIFO()).toBe(true);
});

test('a ring is refused if its folder has a pipe in place of a file', limit, async () => {
  for (const name of ['builder.json', 'log.jsonl', 'versions/0000001.ring']) {
    const tool = await ringBuilderHere();
    await tool.json('create cities --partition-power 3 --replicas 1');
    await tool.json('add cities r1z1-10.0.0.1:6200/sdb 1');
    await tool.json('commit cities -m first');
    const path = join(tool.folder, 'rings/cities', name);
    await rename(path, `${path}.saved`);
    execFileSync('mkfifo', [path]);
    expect(
      await tool.refusal(name.startsWith('v') ? 'table cities' : 'status cities'),
      name,
    ).toEqual(notAFile);
  }
});
