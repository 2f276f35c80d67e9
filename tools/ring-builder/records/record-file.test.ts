// Attack: another user of the machine reads an archive, has put a link in place of its file, or
// changes the file while it is restored. And a file that takes only a part of what is written.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sha256 } from '@ringwright/base/sha256';
import { expect, test } from 'vitest';
import { type ArchivedRecord, framesOf, RecordFileWriter } from './record-file.ts';

test('a record file is readable by its owner only, and does not follow a link', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const [target, file] = [join(folder, 'other'), join(folder, 'records.bin')];
  await writeFile(target, 'of somebody else');
  await symlink(target, file);
  const umask = process.umask(0o022);
  try {
    await using writer = await RecordFileWriter.begin(folder, null);
    await writer.end();
  } finally {
    process.umask(umask);
  }
  expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
  expect(await readFile(target, 'utf8')).toBe('of somebody else');
});

test.each([
  ['a link is in its place', true],
  ['it was changed', false],
])('a part is not continued, and not cut, if %s', async (_, isLink) => {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const [target, file] = [join(folder, 'other'), join(folder, 'records.bin')];
  await writeFile(target, 'of somebody else');
  if (isLink) await symlink(target, file);
  else await copyFile(target, file);
  const part = isLink ? 'of' : 'if';
  const left = { records: 1, bytes: part.length, sha256: sha256(Buffer.from(part)) };
  await expect(RecordFileWriter.begin(folder, left)).rejects.toMatchObject({
    code: 'ARCHIVE_INVALID',
  });
  expect(await readFile(file, 'utf8')).toBe('of somebody else');
});

test('a file that was changed after its check is not restored without an error', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const write = async (value: string): Promise<string> => {
    await using writer = await RecordFileWriter.begin(folder, null);
    const record = {
      key: Buffer.from('k'),
      value: Buffer.from(value),
      ms: 1,
      tie: 1,
      expiresMs: 0,
    };
    await writer.add(record);
    return await writer.end();
  };
  const read = async (digest: string): Promise<readonly ArchivedRecord[]> =>
    (await Array.fromAsync(framesOf(folder, { sha256: digest }))).flat();
  const written = await write('true');
  expect(await read(written)).toMatchObject([{ value: Buffer.from('true') }]);
  await write('other');
  await expect(read(written)).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' });
});

test('an archive does not end well if its file took only a part of the last frame', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ringwright-archive-'));
  const program = `
    import { RecordFileWriter } from ${JSON.stringify(join(import.meta.dirname, 'record-file.ts'))};
    const writer = await RecordFileWriter.begin(${JSON.stringify(folder)}, null);
    const key = Buffer.from('k');
    await writer.add({ key, value: Buffer.alloc(100_000), ms: 1, tie: 1, expiresMs: 0 });
    console.log(await writer.end().catch(({ code }) => code));
  `;
  // Blocks of 512 or 1,024 bytes: less than the frame.
  const limited = `ulimit -f 64; exec "$0" --input-type=module -e "$1"`;
  const child = spawn('sh', ['-c', limited, process.execPath, program]);
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect(stdout, stderr).toBe('EFBIG\n');
});
