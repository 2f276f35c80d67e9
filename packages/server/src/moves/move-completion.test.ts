// Waits for the completion of moves, on fake timers.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MoveCompletion } from './move-completion.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const waitMs = 1_000;

function moves() {
  const here = { version: 3, isComplete: false };
  const complete = new MoveCompletion({
    version: () => here.version,
    isComplete: () => here.isComplete,
  });
  const outcomes: boolean[] = [];
  const wait = (version = 3) =>
    complete.wait('cities', version, waitMs).then((one) => void outcomes.push(one));
  return { here, complete, outcomes, wait };
}

test('waits end with true once the moves are complete, and later ones at once', async () => {
  const { here, complete, outcomes, wait } = moves();
  const waits = [wait(), wait()];
  complete.look();
  await vi.advanceTimersByTimeAsync(waitMs - 1);
  expect(outcomes).toEqual([]);
  here.isComplete = true;
  complete.look();
  await Promise.all(waits);
  await wait();
  expect(outcomes).toEqual([true, true, true]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a wait ends with false after its time, under another version, or on close', async () => {
  const { here, complete, outcomes, wait } = moves();
  const first = wait();
  await vi.advanceTimersByTimeAsync(waitMs);
  await first;
  await wait(2);
  const replaced = wait();
  Object.assign(here, { version: 4, isComplete: true });
  complete.look();
  await replaced;
  here.isComplete = false;
  const last = wait(4);
  complete.close();
  await last;
  expect(outcomes).toEqual([false, false, false, false]);
  expect(vi.getTimerCount()).toBe(0);
});
