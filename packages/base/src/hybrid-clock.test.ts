import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HybridClock } from './hybrid-clock.ts';
import { compareStamps, makeStamp, type Stamp, stampCounter, zeroStamp } from './stamp.ts';

const DEVICE = 3;
const startMs = 1_763_692_800_000;

type Step =
  | { readonly kind: 'tick'; readonly byMs: number }
  | { readonly kind: 'next' }
  | { readonly kind: 'observe'; readonly aheadMs: number; readonly counter: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('tick' as const), byMs: fc.integer({ min: -500, max: 500 }) }),
  fc.record({ kind: fc.constant('next' as const) }),
  fc.record({
    kind: fc.constant('observe' as const),
    aheadMs: fc.integer({ min: -1_000, max: 1_000 }),
    counter: fc.constantFrom(0, 1, 7, 0xfffe, 0xffff),
  }),
);

test('a stamp is above everything issued or observed, whatever the physical clock does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let nowMs = startMs;
      let highest: Stamp = zeroStamp;
      const clock = new HybridClock(() => nowMs);
      for (const one of steps) {
        if (one.kind === 'tick') nowMs += one.byMs;
        if (one.kind === 'observe') {
          const seen = makeStamp(nowMs + one.aheadMs, one.counter, DEVICE + 1);
          clock.observe(seen);
          if (compareStamps(seen, highest) > 0) highest = seen;
        }
        if (one.kind === 'next') {
          const stamp = clock.next(DEVICE);
          expect(compareStamps(stamp, highest)).toBeGreaterThan(0);
          expect(clock.stampsAheadMs()).toBe(stamp.ms - nowMs);
          expect(stamp.ms).toBeGreaterThanOrEqual(nowMs);
          highest = stamp;
        }
      }
    }),
  );
});

test('two clocks that exchange every stamp order all events as they happened', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), fc.integer({ min: -50, max: 50 })), { maxLength: 100 }),
      (turns) => {
        let nowMs = startMs;
        const clocks = [new HybridClock(() => nowMs), new HybridClock(() => nowMs - 400)] as const;
        let last: Stamp = zeroStamp;
        for (const [second, byMs] of turns) {
          nowMs += byMs;
          const stamp = clocks[second ? 1 : 0].next(second ? 1 : 0);
          expect(compareStamps(stamp, last)).toBeGreaterThan(0);
          clocks[second ? 0 : 1].observe(stamp);
          last = stamp;
        }
      },
    ),
  );
});

test('a full counter borrows the next millisecond', () => {
  const clock = new HybridClock(() => startMs);
  clock.observe(makeStamp(startMs, 0xffff, 0));
  expect(clock.next(DEVICE)).toEqual(makeStamp(startMs + 1, 0, DEVICE));
  expect(stampCounter(clock.next(DEVICE))).toBe(1);
});

test('an older stamp changes nothing', () => {
  const clock = new HybridClock(() => startMs);
  const first = clock.next(DEVICE);
  clock.observe(makeStamp(startMs - 1, 0xffff, DEVICE));
  expect(clock.next(DEVICE)).toEqual(makeStamp(first.ms, 1, DEVICE));
});

test('how far a stamp is ahead is measured by the physical clock alone', () => {
  const clock = new HybridClock(() => startMs);
  clock.observe(makeStamp(startMs + 9_000, 0, DEVICE));
  expect(clock.aheadMs(makeStamp(startMs + 60_001, 0, DEVICE))).toBe(60_001);
  expect(clock.aheadMs(makeStamp(startMs - 5, 0, DEVICE))).toBe(-5);
});

test.each([
  { what: 'as far as a clock may be wrong', aheadMs: 60_000, behindMs: 0, isLearned: true },
  { what: 'further than any clock here', aheadMs: 60_001, behindMs: 0, isLearned: false },
  { what: 'this clock is wrong', aheadMs: 3_600_000, behindMs: 3_590_000, isLearned: true },
])('a stamp of a record is learned or not: $what', ({ aheadMs, behindMs, isLearned }) => {
  const clock = new HybridClock(
    () => startMs,
    () => startMs,
    () => behindMs,
  );
  expect(clock.learn(makeStamp(startMs + aheadMs, 0, DEVICE + 1))).toBe(isLearned);
  expect(clock.next(DEVICE).ms).toBe(startMs + (isLearned ? aheadMs : 0));
});

test('observed stamps advance the stamps, but not the time by which records expire', () => {
  const clock = new HybridClock(() => startMs);
  clock.observe(makeStamp(startMs + 59_000, 0, DEVICE + 1));
  expect(clock.next(DEVICE).ms).toBe(startMs + 59_000);
  expect([clock.nowMs(), clock.machineMs()]).toEqual([startMs, startMs]);
  const agreed = new HybridClock(
    () => startMs,
    () => startMs + 7_000,
  );
  expect([agreed.nowMs(), agreed.machineMs()]).toEqual([startMs + 7_000, startMs]);
});
