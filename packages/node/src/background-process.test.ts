// A background process is told from one to the next, held, and out of the way of requests.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type BackgroundOptions, BackgroundProcess } from './background-process.ts';
import { isStarved } from './starved.ts';
import { waitFor } from './wait-for.ts';

const folder = mkdtempSync(join(tmpdir(), 'background-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** `SCHED_IDLE` of sched.h. */
const IDLE_POLICY = 5;

/** Says who it is. */
function program(): URL {
  const file = join(folder, 'echo.mjs');
  const module = new URL('./background-program.ts', import.meta.url).href;
  writeFileSync(
    file,
    `import { followOrders } from '${module}';
     followOrders(() => process.send(process.pid));`,
  );
  return pathToFileURL(file);
}

interface Watched {
  readonly process: BackgroundProcess<number, number>;
  readonly lost: string[];
  /** Starts it when it does not run; its number. */
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

/** `[nice, policy]`, proc_pid_stat(5). */
function schedulingOf(pid: number): number[] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return [fields[16], fields[38]].map(Number);
}

function hasIdleClass(): boolean {
  try {
    return execFileSync('chrt', ['--idle', '0', 'echo', 'yes'], { encoding: 'utf8' }) === 'yes\n';
  } catch {
    return false;
  }
}

test.runIf(process.platform === 'linux' && hasIdleClass())(
  'it is nice, and in the idle class',
  async () => {
    const { pid } = watched();
    const number = await pid();
    await waitFor('the idle class', {
      ask: () => schedulingOf(number),
      until: ([nice, policy]) => nice === 10 && policy === IDLE_POLICY,
    });
  },
);

test('it ends: the next one is another, and who ends it hears nothing', async () => {
  const { process, lost, pid } = watched();
  const first = await pid();
  expect(process.start()).toBe(false);
  expect(await pid()).toBe(first);
  process.kill();
  await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
  expect(lost).toEqual(['it ended with SIGKILL']);
  expect(process.running).toBe(false);
  expect(await pid()).not.toBe(first);
  process.end();
  expect([process.running, lost.length]).toEqual([false, 1]);
});

test('without work it is ended in the end, with work it is not', async () => {
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

const SECOND = 1e9;

test.runIf(process.platform === 'linux')(
  'one that gets no time is killed, and the next one is nice only',
  async () => {
    let waited = 0;
    const timesRun = () => {
      waited += 2 * SECOND;
      return { ran: 0, waited };
    };
    const { lost, process, pid } = watched({ timesRun, lookMs: 1 });
    process.start();
    await waitFor('its end', { ask: () => lost, until: ({ length }) => length === 1 });
    expect(lost).toEqual(['it ended with SIGKILL']);
    const environment = readFileSync(`/proc/${await pid()}/environ`, 'utf8');
    expect(environment).toContain('RINGWRIGHT_IDLE_CLASS=\0');
    expect(lost).toHaveLength(1);
  },
);

test.each([
  { what: 'hardly ran, and wanted to', ran: 0.02, waited: 1.9, starved: true },
  { what: 'had its share', ran: 0.1, waited: 1.8, starved: false },
  { what: 'ran all the time', ran: 2, waited: 0, starved: false },
  { what: 'had nothing to do', ran: 0.001, waited: 0.1, starved: false },
])('$what', ({ ran, waited, starved }) => {
  const before = { ran: 7 * SECOND, waited: 3 * SECOND };
  const now = { ran: before.ran + ran * SECOND, waited: before.waited + waited * SECOND };
  expect(isStarved(before, now)).toBe(starved);
});
