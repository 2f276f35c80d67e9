// What counts as progress of a process, and when its absence is a stall.
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { progressOf, watchProgress } from './process-progress.ts';
import { waitFor } from './wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'progress-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.useRealTimers());

test('a process that takes an order makes progress, and a stopped one makes none', async () => {
  const program = join(folder, 'waits.mjs');
  writeFileSync(program, `process.on('message', () => process.send('taken'));`);
  const child = fork(program);
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid!;
  const answers: unknown[] = [];
  child.on('message', (answer) => answers.push(answer));
  child.send('an order');
  await waitFor('an answer', { ask: () => answers.length, until: (count) => count > 0 });
  const before = progressOf(pid);
  child.send('an order');
  await waitFor('progress', { ask: () => progressOf(pid), until: (now) => now !== before });
  process.kill(pid, 'SIGSTOP');
  const state = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)![0]!;
  await waitFor('its stop', { ask: state, until: (letter) => letter === 'T' });
  const stopped = progressOf(pid);
  child.send('an order');
  expect(stopped).not.toBeNull();
  expect(progressOf(pid)).toBe(stopped);
});

test('of a process that has ended nothing is known', () => {
  expect(progressOf(2 ** 30)).toBeNull();
});

test.each([
  ['no progress is a stall, once', () => 'same', 1],
  ['progress now and then is none', (look: number) => String(Math.floor(look / 12)), 0],
  ['what is unknown is none', () => null, 0],
])('%s', (_, progress, stalls) => {
  vi.useFakeTimers();
  let [looks, found] = [0, 0];
  const end = watchProgress(() => progress(looks++), { stallMsMax: 120, onStall: () => found++ });
  vi.advanceTimersByTime(1_000);
  end();
  expect(found).toBe(stalls);
});

test('a watch that has ended reports nothing', () => {
  vi.useFakeTimers();
  const watch = { stallMsMax: 120, onStall: () => expect.fail('it has ended') };
  watchProgress(() => 'same', watch)();
  vi.advanceTimersByTime(1_000);
});
