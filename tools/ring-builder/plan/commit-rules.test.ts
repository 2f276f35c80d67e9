// Tests that forced partitions are looked for in all waves of a plan.
import type { Plan } from '@ringwright/builder/plan/plan';
import type { LogEntry } from '@ringwright/repository/folder/log-entry';
import { expect, test } from 'vitest';
import { requireProved } from './commit-rules.ts';

const forced = [{ partition: 5, assignment: 3, reason: 'both others burnt' }];
const receipts = { count: 1, sha256: 'a'.repeat(64) };
const entries = [{ details: { receipts, forced } }] as unknown as LogEntry[];

test('a plan whose later wave moves a forced partition needs a reason', () => {
  const later = [[{ partition: 5, replica: 0, from: 1, to: 2 }]];
  const plan = { ring: 'cities', moves: [], later } as unknown as Plan;
  expect(() => requireProved(plan, entries, null)).toThrow('partitions 5 of cities were forced');
  expect(requireProved(plan, entries, 'looked at')).toEqual([5]);
  expect(requireProved({ ...plan, later: [] }, entries, null)).toEqual([]);
});
