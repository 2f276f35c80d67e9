// Unfinished ring folders that killed processes left behind.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installRingFolder } from './install-ring-folder.ts';
import { ringFolder } from './ring-folder.ts';

test('a new ring folder removes leftovers of dead local processes and no others', async () => {
  const rings = await mkdtemp(join(tmpdir(), 'put-in-place-'));
  const { pid: dead } = spawnSync('true');
  const living = [
    `.tmp-${process.ppid}@${hostname()}@cities`,
    `.tmp-${dead}@another-${hostname()}@cities`,
    `.tmp-${dead}-cities`,
  ];
  for (const name of [...living, `.tmp-${dead}@${hostname()}@cities`]) {
    await mkdir(join(rings, name, 'cities'), { recursive: true });
  }
  await installRingFolder(ringFolder(rings, 'notes'), null, () => Promise.resolve());
  expect((await readdir(rings)).sort()).toEqual([...living, 'notes'].sort());
});
