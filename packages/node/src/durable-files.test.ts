// Syncs of one directory: a caller during a sync may have changed the directory since its start.
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { syncDirectory } from './durable-files.ts';

test('all callers during a sync of a directory share the next sync', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'durable-'));
  const first = syncDirectory(directory);
  await Promise.resolve(); // it begins with the next turn of promises
  const [second, third] = [2, 3].map(() => syncDirectory(directory));
  expect(second).not.toBe(first);
  expect(third).toBe(second);
  await first;
  await setImmediate(); // the second sync has begun
  const fourth = syncDirectory(directory);
  expect(fourth).not.toBe(second);
  await Promise.all([second, fourth]);
  await rm(directory, { recursive: true });
  const failed = [1, 2].map(() => syncDirectory(directory));
  for (const one of failed) await expect(one).rejects.toThrow('ENOENT');
});
