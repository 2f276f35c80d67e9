// When passes run: soon after a step that ended, but not for most of the time, on a fake clock.
import { dutyRetryMs, dutyRetryMsMax } from '@ringwright/base/limits-copies';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Passes } from './passes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** Passes that each take `passMs`, and the rings of those that have begun. */
function passesOf(passMs: number): { readonly passes: Passes; readonly begun: string[] } {
  const begun: string[] = [];
  const passes = new Passes({
    run: (keyspace) => {
      begun.push(keyspace);
      vi.setSystemTime(Date.now() + passMs);
      return Promise.resolve();
    },
    onError: () => undefined,
    monotonicMs: () => Date.now(),
  });
  return { passes, begun };
}

test.each([
  { passMs: 10, restMs: 190 },
  { passMs: 100, restMs: 1_900 },
  { passMs: 10_000, restMs: dutyRetryMsMax },
])('after a step that ended, a pass of $passMs ms waits $restMs ms', async ({ passMs, restMs }) => {
  const { passes, begun } = passesOf(passMs);
  passes.begin('wide');
  await passes.idle('wide');
  passes.beginSoon('wide');
  passes.beginSoon('wide');
  await vi.advanceTimersByTimeAsync(restMs - 1);
  expect(begun).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toHaveLength(2);
  passes.close();
});

test('a step that failed is tried again soon, however long a pass takes', async () => {
  const { passes, begun } = passesOf(10_000);
  passes.begin('wide');
  await passes.idle('wide');
  passes.retry('wide', { pauseMs: 1 });
  await vi.advanceTimersByTimeAsync(dutyRetryMs);
  expect(begun).toHaveLength(2);
  passes.close();
});

test('a step of one ring that ended begins no pass of the others', async () => {
  const { passes, begun } = passesOf(1);
  for (const ring of ['cities', 'towns']) {
    passes.begin(ring);
    await passes.idle(ring);
  }
  passes.beginSoon('cities');
  await vi.advanceTimersByTimeAsync(dutyRetryMsMax);
  expect(begun).toEqual(['cities', 'towns', 'cities']);
  passes.close();
});

test('what changes at the very end of a pass is seen by another pass', async () => {
  for (let microtasks = 0; microtasks < 12; microtasks += 1) {
    const { passes, begun } = passesOf(1);
    passes.begin('cities');
    for (let count = 0; count < microtasks; count += 1) await Promise.resolve();
    passes.begin('cities');
    await passes.idle('cities');
    expect(begun, `after ${microtasks} microtasks`).toHaveLength(2);
    passes.close();
  }
});

test('whoever waits for a ring that was activated in this turn waits for its pass', async () => {
  const { passes, begun } = passesOf(1);
  setImmediate(() => passes.begin('cities'));
  await passes.idle('cities');
  expect(begun).toEqual(['cities']);
  passes.close();
});
