// Tests what a server that cannot start says about its disk.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startFailure } from './open-device.ts';

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
