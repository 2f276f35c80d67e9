// Attack: another user of the machine reads an archive, or has put a link in place of its file.
import { mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RecordFileWriter } from './record-file.ts';

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
