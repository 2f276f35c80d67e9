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
  // Time goes by everywhere; then the clock here is set forward by somebody.
  monotonicMs += 1_000;
  expect(clocks.aheadMs(nowMs + 1_000)).toBe(expected);
  const details: unknown = expect.objectContaining({ outcome: 'rejected' });
  const refused = { code: 'CLOCK_AHEAD', details };
  const check = (): void => clocks.check(nowMs + 1_000 + 5 * hourMs);
  if (others.length > 1) expect(check).toThrow(expect.objectContaining(refused));
  else expect(check).not.toThrow();
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
  ['one other server: the one behind', [-30_000], -30_000],
  ['one other server that is ahead', [30_000], 0],
  ['both others are ahead: this one is wrong', [30_000, 40_000], 30_000],
  ['one of three is wrong', [59_000, 0], 0],
  ['a minority of five is wrong', [59_000, 59_000, 0, 0], 0],
  ['most of five are ahead', [59_000, 59_000, 59_000, 0], 59_000],
  ['close enough', [900, 900], 0],
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
