import { copyRestMsMax } from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { Rest } from './rest.ts';

test('so many times as long as it took, at most the longest; shorter work cuts no rest', () => {
  let [nowMs, restTimes] = [1_000, 2];
  const rest = new Rest({ monotonicMs: () => nowMs, loadPace: () => ({ loads: 1, restTimes }) });
  expect([rest.leftMs, rest.untilMs < nowMs]).toEqual([0, true]);
  nowMs += 60;
  rest.after(nowMs - 60);
  expect([rest.leftMs, rest.untilMs]).toEqual([120, nowMs + 120]);
  nowMs += 20;
  rest.after(nowMs - 1);
  expect(rest.leftMs).toBe(100);
  rest.after(nowMs - 3_600_000);
  expect(rest.leftMs).toBe(copyRestMsMax);
  nowMs += copyRestMsMax + 1;
  expect(rest.leftMs).toBe(0);
  restTimes = 0;
  rest.after(nowMs - 60);
  expect(rest.leftMs).toBe(0);
});
