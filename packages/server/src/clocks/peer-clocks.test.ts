// Tests what the clocks of other servers show about the local clock, and the agreed time.
import { clockAgreesMs, clockAheadMsMax } from '@ringwright/base/limits';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PeerClocks } from './peer-clocks.ts';

const hourMs = 3_600_000;

test.each([
  ['no other clock is known', [], 0],
  ['one other clock is known and either may be wrong', [-hourMs], 0],
  ['this clock is ahead of both others', [-hourMs, -hourMs], hourMs],
  ['one of two others is behind', [-hourMs, 0], 0],
  ['one of two others is ahead and one behind', [hourMs, -hourMs], 0],
  ['this clock is ahead of most of five', [-hourMs, -2 * hourMs, -hourMs, 0], hourMs],
  ['this clock is behind both others', [hourMs, hourMs], 0],
])('the lead over most clocks is correct when %s', (_, others, expected) => {
  let monotonicMs = 5;
  const nowMs = 1_763_692_800_000;
  const clocks = new PeerClocks(() => monotonicMs);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, nowMs + offset);
  expect(clocks.aheadMs(nowMs)).toBe(expected);
  expect(clocks.aheadMs(nowMs + 0.4) % 1).toBe(0);
  const mirrored = new PeerClocks(() => monotonicMs);
  for (const [index, offset] of others.entries()) mirrored.learn(`peer ${index}`, nowMs - offset);
  expect(mirrored.behindMs(nowMs)).toBe(expected);
  // Time passes on all servers. Then the clock here is set forward by hours.
  monotonicMs += 1_000;
  expect(clocks.aheadMs(nowMs + 1_000)).toBe(expected);
  const details: unknown = expect.objectContaining({ outcome: 'rejected' });
  const refused = { code: 'CLOCK_AHEAD', details };
  const check = (): void => clocks.check(nowMs + 1_000 + 5 * hourMs);
  if (others.length > 1) expect(check).toThrow(expect.objectContaining(refused));
  else expect(check).not.toThrow();
});

test.each([
  ['no other clock is known', [], 0],
  ['this clock is ahead of the only other one', [-hourMs], hourMs],
  ['this clock is behind the only other one', [hourMs], -hourMs],
  ['this clock is ahead of both others', [-hourMs, -2 * hourMs], hourMs],
  ['this clock is behind both others', [hourMs, 2 * hourMs], -hourMs],
  ['one of two others is ahead', [hourMs, 0], 0],
  ['this clock is behind most of five', [hourMs, hourMs, hourMs, 0], -hourMs],
])('the difference from most clocks is correct when %s', (_, others, expected) => {
  const clocks = new PeerClocks(() => 5);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, 1_000 + offset);
  expect(clocks.awayMs(1_000)).toBe(expected);
});

test('the clocks of servers that left no longer count', () => {
  const clocks = new PeerClocks(() => 0);
  for (const gone of ['x', 'y', 'z']) clocks.learn(gone, -hourMs);
  clocks.learn('here', 0);
  expect(clocks.aheadMs(0)).toBe(hourMs);
  clocks.keep((address) => address === 'here');
  expect([clocks.aheadMs(0), clocks.agreedMs(0), clocks.aheadOf('x', 0)]).toEqual([0, 0, null]);
});

test.each([
  ['no other clock is known', [], 0],
  ['the only other clock is behind', [-30_000], -29_000],
  ['the only other clock is ahead', [30_000], 0],
  ['both other clocks are ahead', [30_000, 40_000], 29_000],
  ['one of three clocks is ahead', [59_000, 0], 0],
  ['two of five clocks are ahead', [59_000, 59_000, 0, 0], 0],
  ['three of five clocks are ahead', [59_000, 59_000, 59_000, 0], 58_000],
  ['the difference is within clockAgreesMs', [1_000, 1_000], 0],
  ['the difference is 1 ms above clockAgreesMs', [1_001, 1_001], 1],
  ['both other clocks are an hour ahead', [hourMs, hourMs], 60_000],
  ['both other clocks are an hour behind', [-hourMs, -hourMs], -60_000],
])('the agreed time is correct when %s', (_, others, expected) => {
  let monotonicMs = 5;
  const nowMs = 1_763_692_800_000;
  const clocks = new PeerClocks(() => monotonicMs);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, nowMs + offset);
  expect(clocks.agreedMs(nowMs) - nowMs).toBe(expected);
  monotonicMs += 500;
  expect(clocks.agreedMs(nowMs + 500) - nowMs).toBe(expected + 500);
});

const aMinute = clockAheadMsMax;
const offsets = fc.array(fc.integer({ min: -aMinute, max: aMinute }), {
  minLength: 1,
  maxLength: 6,
});
const lie = fc.integer({ min: -2 * aMinute, max: 2 * aMinute });

/** Returns the agreed time minus the local time when other clocks differ by `others`. */
function agreedBy(others: readonly number[]): number {
  const clocks = new PeerClocks(() => 0);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, offset);
  return clocks.agreedMs(0);
}

test('a shift of one clock shifts the agreed time by at most as much', () => {
  fc.assert(
    fc.property(offsets, lie, fc.integer({ min: 0, max: 2_000 }), (others, first, moved) => {
      const change = agreedBy([...others, first + moved]) - agreedBy([...others, first]);
      expect(change).toBeGreaterThanOrEqual(0);
      expect(change).toBeLessThanOrEqual(moved);
    }),
  );
});

test('a false clock shifts the agreed time by at most the true spread above clockAgreesMs', () => {
  fc.assert(
    fc.property(offsets, lie, (others, claimed) => {
      fc.pre(others.length > 1);
      const differ = Math.max(0, ...others) - Math.min(0, ...others);
      const most = Math.min(Math.max(0, differ - clockAgreesMs), aMinute);
      expect(Math.abs(agreedBy([...others, claimed]))).toBeLessThanOrEqual(most);
    }),
  );
});

test('the agreed time never goes back and stays within 2 minutes of the local clock', () => {
  const heard = fc.record({ from: fc.nat(3), ms: lie, laterMs: fc.nat(90_000) });
  fc.assert(
    fc.property(fc.array(heard, { maxLength: 40 }), (all) => {
      let nowMs = 0;
      const clocks = new PeerClocks(() => nowMs);
      let lastMs = clocks.agreedMs(nowMs);
      for (const { from, ms, laterMs } of all) {
        clocks.learn(`peer ${from}`, nowMs + ms);
        for (const passed of [0, laterMs]) {
          nowMs += passed;
          const agreedMs = clocks.agreedMs(nowMs);
          expect(agreedMs).toBeGreaterThanOrEqual(lastMs);
          expect(Math.abs(agreedMs - nowMs)).toBeLessThanOrEqual(2 * aMinute);
          lastMs = agreedMs;
        }
      }
    }),
  );
});

test('the agreed time follows a local clock that is set back by an hour', () => {
  const clocks = new PeerClocks(() => 0);
  expect(clocks.agreedMs(hourMs)).toBe(hourMs);
  expect(clocks.agreedMs(0)).toBe(0);
  expect(clocks.agreedMs(-1_500), 'it stands still when the clock is set back a little').toBe(0);
  expect(clocks.agreedMs(1)).toBe(1);
});
