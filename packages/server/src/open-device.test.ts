// Tests what a server says about its disk while it starts, and when it cannot start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLogEveryMs } from '@ringwright/base/limits-store';
import { expect, onTestFinished, test } from 'vitest';
import { logFolders, startFailure } from './open-device.ts';

test('a disk that has free bytes but takes no file is not said to lack bytes', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'device-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const message = `ENOSPC: no space left on device, mkdir '${directory}/log'`;
  const error = Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'mkdir' });
  const failure = await startFailure(error, directory);
  expect(failure).toMatchObject({ code: 'DISK_FULL', exit: 4 });
  expect(failure).toHaveProperty('message', expect.stringContaining('takes no more files'));
  expect(failure).toHaveProperty('message', expect.stringContaining(message));
  expect(failure).toHaveProperty('hint', expect.stringMatching(/^free inodes if df -i shows none/));
});

test('a long start logs how many partition folders it has read, a short one logs nothing', () => {
  const lines: unknown[] = [];
  let ms = 0;
  const onFolder = logFolders({ info: (fields: unknown) => lines.push(fields) }, () => ms);
  onFolder(1, 9);
  ms = startLogEveryMs - 1;
  onFolder(2, 9);
  expect(lines).toEqual([]);
  ms = startLogEveryMs;
  onFolder(3, 9);
  onFolder(4, 9);
  expect(lines).toEqual([{ done: 3, folders: 9 }]);
});
