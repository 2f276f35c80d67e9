// Tests server.json, the hint where a server listens. A failed write is reported, and does not keep
// the server from starting.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';
import { noteListening, readListening } from './listening-file.ts';

test('server.json holds the address of a server until the server ends', async () => {
  await using folder = await scratchFolder();
  const troubles: unknown[] = [];
  const end = await noteListening(folder.path, '0.0.0.0:7101', (error) => troubles.push(error));
  expect(await readListening(folder.path)).toBe('127.0.0.1:7101');
  await end();
  expect(await readListening(folder.path)).toBeNull();
  expect(troubles).toEqual([]);
});

test('a failed write of server.json is reported and does not throw', async () => {
  await using folder = await scratchFolder();
  const troubles: unknown[] = [];
  const absent = join(folder.path, 'absent');
  const end = await noteListening(absent, '127.0.0.1:7101', (error) => troubles.push(error));
  await end();
  expect(troubles).toMatchObject([{ code: 'ENOENT' }]);
});

test.each(['', '{"addr', '{"other":1}'])('%j in server.json counts as no address', async (text) => {
  await using folder = await scratchFolder();
  await writeFile(join(folder.path, 'server.json'), text);
  expect(await readListening(folder.path)).toBeNull();
});
