// Levels: any two quorums of a partition share a slot; bad names are refused.
import { expect, test } from 'vitest';
import { parseConsistency } from './request-terms.ts';
import { slotsNeeded } from './slot-acks.ts';

test('slots needed, for every count of replicas', () => {
  for (let slots = 1; slots <= 32; slots += 1) {
    const quorum = slotsNeeded('quorum', slots);
    expect(2 * quorum, `two quorums of ${slots} meet`).toBeGreaterThan(slots);
    expect(2 * (quorum - 1), 'and no smaller number does').toBeLessThanOrEqual(slots);
    expect([slotsNeeded('one', slots), slotsNeeded('all', slots)]).toEqual([1, slots]);
  }
});

test('names', () => {
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
