// Bytes pass in order, at the rate of the moment.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CopyThrottle } from './copy-throttle.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function passing(throttle: CopyThrottle, amounts: readonly number[]): number[] {
  const passed: number[] = [];
  for (const bytes of amounts) void throttle.pass(bytes).then(() => passed.push(bytes));
  return passed;
}

test('without a rate everything passes at once', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  await Promise.all([throttle.pass(1e9), throttle.pass(1e9)]);
  expect(throttle.backlogMs()).toBe(0);
  expect([throttle.passedBytes(), throttle.passedBytes()]).toEqual([2e9, 0]);
});

test('one after the other, however large, and the backlog is told', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  throttle.setRate(1_000);
  const passed = passing(throttle, [2_000, 500, 1]);
  await vi.advanceTimersByTimeAsync(1_900);
  expect(passed).toEqual([2_000]);
  expect(Math.round(throttle.backlogMs())).toBe(100 + 501);
  await vi.advanceTimersByTimeAsync(200);
  expect(passed).toEqual([2_000, 500]);
  await vi.advanceTimersByTimeAsync(500);
  expect(passed).toEqual([2_000, 500, 1]);
});

test('a rate that changes is one for those who wait already', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  throttle.setRate(10);
  const passed = passing(throttle, [10_000, 10_000, 10_000]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(passed).toHaveLength(1);
  throttle.setRate(100_000);
  await vi.advanceTimersByTimeAsync(300);
  expect(passed).toHaveLength(3);
});

test('when it is closed nobody waits', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  throttle.setRate(10);
  const passed = passing(throttle, [10_000, 10_000]);
  throttle.close();
  await vi.advanceTimersByTimeAsync(200);
  expect(passed).toHaveLength(2);
});
