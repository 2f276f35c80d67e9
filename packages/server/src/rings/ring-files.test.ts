// Ring files named by the operator that are pipes, devices or directories block nothing.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratchFolder } from '../../../../test/support/scratch-folder.ts';
import { followRingFiles } from './ring-files.ts';

test('pipes, devices and directories are refused, and files beside them are adopted', async () => {
  await using folder = await scratchFolder();
  const [fifo, ring] = [join(folder.path, 'fifo'), join(folder.path, 'good.ring')];
  const rings = join(folder.path, 'rings');
  execFileSync('mkfifo', [fifo]);
  await writeFile(ring, 'bytes of a ring');
  await mkdir(join(rings, 'piped'), { recursive: true });
  execFileSync('mkfifo', [join(rings, 'piped', 'builder.json')]);
  await writeFile(join(rings, 'trust.json'), '{}');
  const adopted: string[] = [];
  const refused: string[] = [];
  const adopt = async (bytes: Uint8Array): Promise<never> => {
    adopted.push(Buffer.from(bytes).toString());
    return undefined as never;
  };
  const onRefusal = (file: string, error: unknown): void => {
    expect(error).toMatchObject({ code: 'FILE_UNFIT' });
    refused.push(file);
  };
  const files = [fifo, '/dev/zero', folder.path, join(folder.path, 'not yet.ring'), ring];
  const stop = await followRingFiles({ adopt, onRefusal }, { folder: rings, files });
  stop();
  expect(adopted).toEqual(['bytes of a ring']);
  expect(refused).toEqual([join(rings, 'piped', 'builder.json'), fifo, '/dev/zero', folder.path]);
});

test('a folder of rings that is a file is reported, and a missing one is not', async () => {
  await using folder = await scratchFolder();
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  const refused: string[] = [];
  const onRefusal = (path: string): void => void refused.push(path);
  const adopt = (): Promise<never> => Promise.reject(new Error('nothing is to be adopted'));
  for (const rings of [file, join(folder.path, 'not yet')]) {
    const stop = await followRingFiles({ adopt, onRefusal }, { folder: rings, files: [] });
    stop();
  }
  expect(refused).toEqual([file]);
});
