// Ring files named by the operator that are pipes, devices or directories block nothing.
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { expect, test, vi } from 'vitest';
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

test('a file is tried again after a failure that may pass, and not after a refusal', async () => {
  await using folder = await scratchFolder();
  const [late, old] = [join(folder.path, 'late.ring'), join(folder.path, 'old.ring')];
  await writeFile(late, 'late');
  await writeFile(old, 'old');
  const failures = [
    new CodedError('DISK_FULL', 'no space is left'),
    new CodedError('DISK_FAILED', 'an input/output error'),
    Object.assign(new Error('too many open files'), { code: 'EMFILE' }),
  ];
  const tried: string[] = [];
  const adopted: string[] = [];
  const adopt = async (bytes: Uint8Array): Promise<never> => {
    const name = Buffer.from(bytes).toString();
    tried.push(name);
    if (name === 'old') throw new CodedError('RING_OLDER', 'a newer one was active here');
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    adopted.push(name);
    return undefined as never;
  };
  const refused: string[] = [];
  const onRefusal = (file: string): void => void refused.push(file);
  const ports = { adopt, onRefusal };
  const stop = await followRingFiles(ports, { folder: undefined, files: [late, old] });
  await vi.waitFor(() => expect(adopted).toEqual(['late']), { timeout: 30_000 });
  stop();
  expect(tried).toEqual(['late', 'old', 'late', 'late', 'late']);
  expect(refused, 'each is reported once').toEqual([late, old]);
}, 40_000);
