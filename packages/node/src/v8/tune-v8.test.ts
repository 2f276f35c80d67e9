import { execFileSync } from 'node:child_process';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type GcEntry, giveBackAtRest } from './tune-v8.ts';

let majors = 0;
const observer = new PerformanceObserver((list) => {
  // Node gives these entries more fields than their TypeScript type declares.
  for (const entry of list.getEntries() as GcEntry[]) {
    if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) majors += 1;
  }
});

beforeEach(() => {
  majors = 0;
  observer.observe({ entryTypes: ['gc'] });
});
afterEach(() => observer.disconnect());

test('an idle process collects everything', async () => {
  const timer = giveBackAtRest({ tickMs: 20, usedShare: 0.9, newSpaceBytesMax: 1 });
  await expect.poll(() => majors).toBeGreaterThan(0);
  clearInterval(timer);
});

test('a busy process collects nothing, nor does one with little to give back', async () => {
  const ticks = { tickMs: 20, usedShare: 0.9, newSpaceBytesMax: 1 };
  const timers = [
    giveBackAtRest({ ...ticks, usedShare: 0 }),
    giveBackAtRest({ ...ticks, newSpaceBytesMax: 2 ** 40 }),
  ];
  let passed = 0;
  timers.push(setInterval(() => (passed += 1), ticks.tickMs));
  await expect.poll(() => passed).toBeGreaterThan(5);
  for (const timer of timers) clearInterval(timer);
  expect(majors).toBe(0);
});

const tuning = JSON.stringify(new URL('tune-v8.ts', import.meta.url).href);
/** Runs in a process of its own: the young generation of this one may have grown in other tests. */
const burstProgram = `
  import { setImmediate } from 'node:timers/promises';
  import { growWhenHindered, newSpaceBytes } from ${tuning};
  // As in a burst: most of what is made outlives some collections.
  async function burst() {
    const inFlight = [];
    for (let turn = 0; turn < 200; turn += 1) {
      inFlight[turn % 20] = Array.from({ length: 5_000 }, (_, index) => ({ turn, index }));
      await setImmediate();
    }
    return newSpaceBytes();
  }
  const hold = growWhenHindered({ tickMs: 20, collectingMs: Infinity, newSpaceBytesMax: 1 });
  const before = await burst();
  // Growth stays. But on a busy machine V8 adds pages for a moment: once, it had 6 MiB, not 2.
  let held = Infinity;
  for (let more = 0; more < 5; more += 1) held = Math.min(held, await burst());
  hold();
  growWhenHindered({ tickMs: 20, collectingMs: 0, newSpaceBytesMax: 1 });
  // V8 grows it when it next collects behind a tick: on a busy machine that takes some bursts.
  let grown = 0;
  for (let more = 0; more < 50 && grown < 2 * before; more += 1) grown = await burst();
  console.log(JSON.stringify({ before, held, grown }));
`;

test('the young generation grows in a burst only if its collections hinder the program', () => {
  const args = ['--input-type=module', '-e', burstProgram];
  const { before, held, grown } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: 'utf8' }),
  );
  // Growing means doubling.
  expect(held).toBeLessThan(2 * before);
  expect(grown).toBeGreaterThanOrEqual(2 * before);
});

test('after leaveGarbage nothing is collected on request', () => {
  const garbage = JSON.stringify(new URL('collect-garbage.ts', import.meta.url).href);
  const program = `
    import { setImmediate } from 'node:timers/promises';
    import { collectGarbage, leaveGarbage } from ${garbage};
    if (process.argv[1] === 'alone') leaveGarbage();
    const young = new WeakRef({});
    // An object behind a WeakRef is kept until the turn ends.
    await setImmediate();
    collectGarbage('major');
    console.log(young.deref() === undefined ? 'gone' : 'kept');
  `;
  const args = ['--input-type=module', '-e', program];
  const run = (...more: string[]): string =>
    execFileSync(process.execPath, [...args, ...more], { encoding: 'utf8' }).trim();
  expect(run('asked')).toBe('gone');
  expect(run('alone')).toBe('kept');
});
