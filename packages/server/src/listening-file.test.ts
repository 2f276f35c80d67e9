// A hint that cannot be written is told, and keeps no server from its start.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { noteListening, readListening } from './listening-file.ts';

test('where a server listens, as long as it does', async () => {
  await using folder = await scratchFolder();
  const troubles: unknown[] = [];
  const end = await noteListening(folder.path, '0.0.0.0:7101', (error) => troubles.push(error));
  expect(await readListening(folder.path)).toBe('127.0.0.1:7101');
  await end();
  expect(await readListening(folder.path)).toBeNull();
  expect(troubles).toEqual([]);
});

test('a disk that does not take it is told, and no failure', async () => {
  await using folder = await scratchFolder();
  const troubles: unknown[] = [];
  const absent = join(folder.path, 'absent');
  const end = await noteListening(absent, '127.0.0.1:7101', (error) => troubles.push(error));
  await end();
  expect(troubles).toMatchObject([{ code: 'ENOENT' }]);
});
