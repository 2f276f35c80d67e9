// Tests the cooldown after work with files.
import { copyCooldownMsMax } from '@ringwright/base/limits-copies';
import { expect, test } from 'vitest';
import { Cooldown } from './throttle-control.ts';

test('a cooldown is a multiple of the work, limited, and not cut by shorter work', () => {
  let [nowMs, cooldownTimes] = [1_000, 2];
  const cooldown = new Cooldown({
    monotonicMs: () => nowMs,
    loadThrottle: () => ({ loads: 1, cooldownTimes }),
  });
  expect([cooldown.leftMs, cooldown.untilMs < nowMs]).toEqual([0, true]);
  nowMs += 40;
  cooldown.after(nowMs - 40);
  expect([cooldown.leftMs, cooldown.untilMs]).toEqual([80, nowMs + 80]);
  nowMs += 20;
  cooldown.after(nowMs - 1);
  expect(cooldown.leftMs).toBe(60);
  cooldown.after(nowMs - 3_600_000);
  expect(cooldown.leftMs).toBe(copyCooldownMsMax);
  nowMs += copyCooldownMsMax + 1;
  expect(cooldown.leftMs).toBe(0);
  cooldownTimes = 0;
  cooldown.after(nowMs - 60);
  expect(cooldown.leftMs).toBe(0);
});
