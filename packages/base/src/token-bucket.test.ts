import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

test('a debt is paid at the rate, and at most a burst is saved', () => {
  let nowMs = 0;
  const bucket = new TokenBucket(() => nowMs);
  bucket.take(500);
  expect(bucket.debtMs(), 'without a rate').toBe(0);
  bucket.setRate(1_000);
  bucket.take(500);
  expect(bucket.debtMs()).toBe(500);
  nowMs = 300;
  expect(bucket.debtMs()).toBe(200);
  expect(bucket.debtMs(50)).toBe(250);
  nowMs = 60_000;
  expect(bucket.debtMs(101), 'a burst of 100').toBe(1);
  nowMs = 59_000;
  expect(bucket.debtMs(101), 'a clock that steps back').toBe(1);
});

test('no amounts at any times take more than the rate and a burst', () => {
  const steps = fc.array(
    fc.record({ pauseMs: fc.nat(300), tokens: fc.integer({ min: 1, max: 400 }) }),
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5_000 }), (all, rate) => {
      let [nowMs, taken] = [0, 0];
      const bucket = new TokenBucket(() => nowMs);
      bucket.setRate(rate);
      for (const { pauseMs, tokens } of all) {
        nowMs += pauseMs;
        nowMs += bucket.debtMs();
        expect(taken, `taken by ${nowMs}`).toBeLessThanOrEqual((nowMs * rate) / 1_000 + 1e-6);
        bucket.take(tokens);
        taken += tokens;
      }
    }),
  );
});
