// The life of a background process, how its end is reported, and its priority.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { type BackgroundOptions, BackgroundProcess } from './background-process.ts';
import { waitFor } from './wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'background-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a program that answers with its process id. */
function program(): URL {
  const file = join(folder, 'echo.mjs');
  writeFileSync(file, `process.on('message', () => process.send(process.pid));`);
  return pathToFileURL(file);
}

interface Watched {
  readonly process: BackgroundProcess<number, number>;
  readonly lost: string[];
  /** Starts the process if it does not run. Resolves to its process id. */
  readonly pid: () => Promise<number>;
}

function watched(options: Partial<BackgroundOptions<number>> = {}): Watched {
  const lost: string[] = [];
  const answers: number[] = [];
  const process = new BackgroundProcess<number, number>({
    ...{ program: program(), idleMsMax: 60_000 },
    onAnswer: (pid) => answers.push(pid),
    onLost: (why) => lost.push(why),
    ...options,
  });
  onTestFinished(() => process.end());
  const pid = async (): Promise<number> => {
    process.start();
    process.send(0);
    const before = answers.length;
    await waitFor('an answer', { ask: () => answers.length, until: (now) => now > before });
    return answers.at(-1)!;
  };
  return { process, lost, pid };
}

test('a parked process runs once it is started, and an idle one is parked again', async () => {
  const { process: parked, lost, pid } = watched({ idleMsMax: 1 });
  parked.park();
  expect([parked.start(), parked.start()]).toEqual([true, false]);
  const first = await pid();
  for (const round of [1, 2, 3]) {
    parked.hold(false);
    await waitFor('its end', { ask: () => lost, until: ({ length }) => length === round });
    expect(parked.running).toBe(false);
    // Requested at once: the previous process may not have ended yet.
    expect(await pid()).not.toBe(first);
  }
  expect(lost).toEqual(Array(3).fill('it was idle'));
});

test('orders of a parent that was killed before the program ran are not carried out', async () => {
  const done = join(folder, 'done');
  const library = new URL('./background-program.ts', import.meta.url).href;
  const file = join(folder, 'late.mjs');
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';
     import { takeOrders } from '${library}';
     process.on('exit', () => writeFileSync('${done}-exit', ''));
     takeOrders(async () => writeFileSync('${done}-order', ''));`,
  );
  // The parent ends while its child starts.
  const parent = `const child = require('node:child_process').fork('${file}');
    child.send('an order', () => process.kill(process.pid, 'SIGKILL'));`;
  spawnSync(process.execPath, ['-e', parent]);
  await waitFor('its end', { ask: () => existsSync(`${done}-exit`), until: (is) => is });
  expect(existsSync(`${done}-order`)).toBe(false);
});

test('an end from outside is reported, and the next process runs', async () => {
  const { process: watchedOne, lost, pid } = watched();
  for (const [signal, status] of [
    ['SIGTERM', 'SIGTERM'],
    ['SIGKILL', '137'],
  ] as const) {
    const first = await pid();
    lost.length = 0;
    process.kill(first, signal);
    await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
    expect(lost).toEqual([`it ended with ${status}`]);
    expect(watchedOne.running).toBe(false);
  }
  await pid();
});

test('a background process has a low priority', async () => {
  expect(getPriority(await watched().pid())).toBe(10);
});

test('after an end the next process is new, and a requested end is not reported', async () => {
  const { process, lost, pid } = watched();
  const first = await pid();
  expect(process.start()).toBe(false);
  expect(await pid()).toBe(first);
  process.kill('it hangs');
  await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
  expect(lost).toEqual(['it hangs']);
  expect(process.running).toBe(false);
  expect(await pid()).not.toBe(first);
  process.end();
  expect([process.running, lost.length]).toEqual([false, 1]);
});

test('a process without work is ended at last, and one with work is not', async () => {
  const { process, lost, pid } = watched({ idleMsMax: 1 });
  await pid();
  process.hold(false);
  process.hold(true);
  await pid();
  expect(lost).toEqual([]);
  process.hold(false);
  await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
  expect(lost).toEqual(['it was idle']);
});

test('a process with work that is stopped is killed, and the next one runs', async () => {
  const { process: stopped, lost, pid } = watched({ stallMsMax: 1_200 });
  const first = await pid();
  process.kill(first, 'SIGSTOP');
  stopped.hold(true);
  await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
  expect(lost).toEqual(['it made no progress for 1.2 s']);
  expect(await pid()).not.toBe(first);
});

test('a process that does not end when killed is lost, and no other starts beside it', async () => {
  const { process: stuck, lost, pid } = watched();
  const first = await pid();
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  onTestFinished(() => kill.mockRestore());
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  stuck.kill('it hangs');
  vi.advanceTimersByTime(60_000);
  expect(lost).toEqual(['it hangs, and it cannot be killed: its disk does not answer']);
  expect(() => stuck.start()).toThrow('does not end');
  kill.mockRestore();
  vi.useRealTimers();
  process.kill(first, 'SIGKILL');
  const tryStart = (): boolean => {
    try {
      return stuck.start();
    } catch {
      return false;
    }
  };
  await waitFor('a start', { ask: tryStart, until: (isStarted) => isStarted });
  expect(await pid()).not.toBe(first);
  expect(lost).toHaveLength(1);
});
