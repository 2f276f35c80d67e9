import { clockAgreesMs, clockAheadMsMax } from '@ringwright/base/limits';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PeerClocks } from './peer-clocks.ts';

const hourMs = 3_600_000;

test.each([
  ['nobody was heard', [], 0],
  ['a single other server: which of the two is wrong?', [-hourMs], 0],
  ['ahead of both others', [-hourMs, -hourMs], hourMs],
  ['one of the others is wrong', [-hourMs, 0], 0],
  ['one of the others is wrong, in the other direction', [hourMs, -hourMs], 0],
  ['ahead of most of five', [-hourMs, -2 * hourMs, -hourMs, 0], hourMs],
  ['behind all others', [hourMs, hourMs], 0],
])('%s', (_, others, expected) => {
  let monotonicMs = 5;
  const nowMs = 1_763_692_800_000;
  const clocks = new PeerClocks(() => monotonicMs);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, nowMs + offset);
  expect(clocks.aheadMs(nowMs)).toBe(expected);
  expect(clocks.aheadMs(nowMs + 0.4) % 1).toBe(0);
  const mirrored = new PeerClocks(() => monotonicMs);
  for (const [index, offset] of others.entries()) mirrored.learn(`peer ${index}`, nowMs - offset);
  expect(mirrored.behindMs(nowMs)).toBe(expected);
  // Time goes by everywhere; then the clock here is set forward by somebody.
  monotonicMs += 1_000;
  expect(clocks.aheadMs(nowMs + 1_000)).toBe(expected);
  const details: unknown = expect.objectContaining({ outcome: 'rejected' });
  const refused = { code: 'CLOCK_AHEAD', details };
  const check = (): void => clocks.check(nowMs + 1_000 + 5 * hourMs);
  if (others.length > 1) expect(check).toThrow(expect.objectContaining(refused));
  else expect(check).not.toThrow();
});

test.each([
  ['nobody was heard', [], 0],
  ['ahead of the only other one', [-hourMs], hourMs],
  ['behind it', [hourMs], -hourMs],
  ['ahead of both others', [-hourMs, -2 * hourMs], hourMs],
  ['behind both', [hourMs, 2 * hourMs], -hourMs],
  ['one of the others is wrong', [hourMs, 0], 0],
  ['behind most of five', [hourMs, hourMs, hourMs, 0], -hourMs],
])('away from the others: %s', (_, others, expected) => {
  const clocks = new PeerClocks(() => 5);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, 1_000 + offset);
  expect(clocks.awayMs(1_000)).toBe(expected);
});

test('the clocks of servers that left count no more', () => {
  const clocks = new PeerClocks(() => 0);
  for (const gone of ['x', 'y', 'z']) clocks.learn(gone, -hourMs);
  clocks.learn('here', 0);
  expect(clocks.aheadMs(0)).toBe(hourMs);
  clocks.keep((address) => address === 'here');
  expect([clocks.aheadMs(0), clocks.agreedMs(0), clocks.aheadOf('x', 0)]).toEqual([0, 0, null]);
});

test.each([
  ['nobody was heard', [], 0],
  ['one other server: the one behind', [-30_000], -29_000],
  ['one other server that is ahead', [30_000], 0],
  ['both others are ahead: this one is wrong', [30_000, 40_000], 29_000],
  ['one of three is wrong', [59_000, 0], 0],
  ['a minority of five is wrong', [59_000, 59_000, 0, 0], 0],
  ['most of five are ahead', [59_000, 59_000, 59_000, 0], 58_000],
  ['close enough', [1_000, 1_000], 0],
  ['a little more', [1_001, 1_001], 1],
  ['no further than clocks may be wrong', [hourMs, hourMs], 60_000],
  ['nor back', [-hourMs, -hourMs], -60_000],
])('the time that servers agree on: %s', (_, others, expected) => {
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

/** The agreed time less this machine's, when other clocks are off by so much. */
function agreedBy(others: readonly number[]): number {
  const clocks = new PeerClocks(() => 0);
  for (const [index, offset] of others.entries()) clocks.learn(`peer ${index}`, offset);
  return clocks.agreedMs(0);
}

test('one clock that moves moves the agreed time by no more than it moves', () => {
  fc.assert(
    fc.property(offsets, lie, fc.integer({ min: 0, max: 2_000 }), (others, first, moved) => {
      const change = agreedBy([...others, first + moved]) - agreedBy([...others, first]);
      expect(change).toBeGreaterThanOrEqual(0);
      expect(change).toBeLessThanOrEqual(moved);
    }),
  );
});

test('a liar moves it by no more than true clocks differ beyond clockAgreesMs', () => {
  fc.assert(
    fc.property(offsets, lie, (others, said) => {
      fc.pre(others.length > 1);
      const differ = Math.max(0, ...others) - Math.min(0, ...others);
      const most = Math.min(Math.max(0, differ - clockAgreesMs), aMinute);
      expect(Math.abs(agreedBy([...others, said]))).toBeLessThanOrEqual(most);
    }),
  );
});

test('it never goes back, whatever is heard, and is never far from this clock', () => {
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

test('a clock of this machine that was wrong and is set back is followed', () => {
  const clocks = new PeerClocks(() => 0);
  expect(clocks.agreedMs(hourMs)).toBe(hourMs);
  expect(clocks.agreedMs(0)).toBe(0);
  expect(clocks.agreedMs(-1_500), 'a little: it stands still').toBe(0);
  expect(clocks.agreedMs(1)).toBe(1);
});
