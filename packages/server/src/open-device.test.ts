// Tests what a server says about its disk while it starts, and when it cannot start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLogEveryMs } from '@ringwright/base/limits-store';
import { expect, onTestFinished, test } from 'vitest';
import { logSteps, startFailure } from './open-device.ts';
import { logOf } from './telemetry/log.ts';
import { RepeatedLines } from './telemetry/repeated-lines.ts';

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

test('a long start logs what it does and how far it is, a short one logs nothing', () => {
  const lines: string[] = [];
  const log = logOf('info', new RepeatedLines(() => 0), { write: (line) => lines.push(line) });
  let ms = 0;
  const onStep = logSteps(log, () => ms);
  const step = (doing: string, done: number): void => onStep({ doing, done, partitions: 4_000 });
  step('reading', 1_000);
  ms = startLogEveryMs - 1;
  step('reading', 2_000);
  expect(lines).toEqual([]);
  ms = startLogEveryMs;
  step('replaying', 2_100);
  step('replaying', 2_200);
  ms = 2 * startLogEveryMs;
  step('replaying', 3_100);
  const msg = 'replaying; requests are answered after the start';
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { done: 2_100, partitions: 4_000, percent: 52, msg },
    { done: 3_100, partitions: 4_000, percent: 77, msg },
  ]);
});
