// Tests that bytes pass in order and at the current rate.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CopyThrottle } from './copy-throttle.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function passing(throttle: CopyThrottle, amounts: readonly number[]): number[] {
  const passed: number[] = [];
  for (const bytes of amounts) void throttle.pass(bytes).then(() => passed.push(bytes));
  return passed;
}

test('without a rate all bytes pass at once', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  await Promise.all([throttle.pass(1e9), throttle.pass(1e9)]);
  expect(throttle.backlogMs()).toBe(0);
  expect([throttle.passedBytes(), throttle.passedBytes()]).toEqual([2e9, 0]);
});

test('amounts of any size pass in order, and the backlog is reported', async () => {
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

test('a new rate also applies to callers that already wait', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  throttle.setRate(10);
  const passed = passing(throttle, [10_000, 10_000, 10_000]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(passed).toHaveLength(1);
  throttle.setRate(100_000);
  await vi.advanceTimersByTimeAsync(300);
  expect(passed).toHaveLength(3);
});

test('closing the throttle ends all waiting', async () => {
  const throttle = new CopyThrottle(() => performance.now());
  throttle.setRate(10);
  const passed = passing(throttle, [10_000, 10_000]);
  throttle.close();
  await vi.advanceTimersByTimeAsync(200);
  expect(passed).toHaveLength(2);
});
