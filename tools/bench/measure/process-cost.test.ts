// The processor time of a process with its running and ended children.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { outputOf } from './finished-program.ts';
import { processCost, treeCost } from './process-cost.ts';

const BURNT_SECONDS = 0.1;
/** The operating system counts processor time in ticks of this length. */
const TICK_SECONDS = 0.01;

const burn = `while (process.cpuUsage().user < ${BURNT_SECONDS * 1e6});`;

test('the processor time of children counts, both while they run and after their end', async () => {
  const family = async (): Promise<number> => {
    const [own, all] = [await processCost(process.pid), await treeCost([process.pid])];
    return all.cpuSeconds - own.cpuSeconds;
  };
  const before = await family();
  await outputOf(process.execPath, ['-e', burn]);
  const withEnded = await family();
  expect(withEnded - before).toBeGreaterThanOrEqual(BURNT_SECONDS - TICK_SECONDS);
  const child = spawn(process.execPath, [
    '-e',
    `${burn} console.log('burnt'); setInterval(() => 0, 1e6)`,
  ]);
  await once(child.stdout, 'data');
  expect((await family()) - withEnded).toBeGreaterThanOrEqual(BURNT_SECONDS - TICK_SECONDS);
  child.kill();
  await once(child, 'close');
});
