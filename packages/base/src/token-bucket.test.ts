import fc from 'fast-check';
import { expect, test } from 'vitest';
import { debtMs, newBucket, refill, take } from './token-bucket.ts';

test('a debt is paid at the rate, and no more than a burst is saved', () => {
  const empty = take(refill(newBucket(0), 1_000, 0), 500);
  expect(debtMs(empty, 1_000)).toBe(500);
  expect(debtMs(refill(empty, 1_000, 300), 1_000)).toBe(200);
  expect(refill(empty, 1_000, 60_000).level).toBe(100);
  expect(refill(empty, 1_000, -5), 'a clock that steps back').toMatchObject({ level: -500 });
});

test('any amounts at any times: never more than the rate and a burst', () => {
  const steps = fc.array(
    fc.record({ pauseMs: fc.nat(300), tokens: fc.integer({ min: 1, max: 400 }) }),
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 5_000 }), (all, rate) => {
      let [bucket, nowMs, taken] = [newBucket(0), 0, 0];
      for (const { pauseMs, tokens } of all) {
        nowMs += pauseMs;
        bucket = refill(bucket, rate, nowMs);
        const waitMs = debtMs(bucket, rate);
        nowMs += waitMs;
        bucket = refill(bucket, rate, nowMs);
        expect(taken, `taken by ${nowMs}`).toBeLessThanOrEqual((nowMs * rate) / 1_000 + 1e-6);
        bucket = take(bucket, tokens);
        taken += tokens;
      }
    }),
  );
});
