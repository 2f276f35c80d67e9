// Tests consistency levels: any two quorums of a partition share a slot, and bad names are refused.
import { expect, test } from 'vitest';
import { parseConsistency } from './request-terms.ts';
import { slotsNeeded } from './slot-acks.ts';

test('two quorums share a slot, for 1 to 32 slots', () => {
  for (let slots = 1; slots <= 32; slots += 1) {
    const quorum = slotsNeeded('quorum', slots);
    expect(2 * quorum, `two quorums of ${slots} slots overlap`).toBeGreaterThan(slots);
    expect(2 * (quorum - 1), 'two smaller sets do not overlap').toBeLessThanOrEqual(slots);
    expect([slotsNeeded('one', slots), slotsNeeded('all', slots)]).toEqual([1, slots]);
  }
});

test('a level is given by its exact name, and quorum is the default', () => {
  expect(['one', 'quorum', 'all', null].map(parseConsistency)).toEqual([
    'one',
    'quorum',
    'all',
    'quorum',
  ]);
  for (const bad of ['', 'ONE', 'two', 'quorum ', '__proto__']) {
    expect(() => parseConsistency(bad)).toThrow(
      expect.objectContaining({ code: 'CONSISTENCY_INVALID', http: 400 }),
    );
  }
});
