// Tests how much memory all connections together may hold, on machines of different sizes.
import { MIB } from '@ringwright/base/limits';
import { httpBodiesBytesMax, listenerBudgetBytesMin } from '@ringwright/base/limits-listeners';
import { expect, test } from 'vitest';
import { machineBudget } from './byte-budget.ts';

const GIB = 1024 * MIB;

/** Returns the bytes that connections of 1 MiB each hold before the first of them ends. */
function bytesHeld(memoryBytes: number): number {
  const budget = machineBudget(httpBodiesBytesMax, memoryBytes);
  let ended = 0;
  for (let connections = 0; connections <= 1_024; connections += 1) {
    budget.connection(() => (ended += 1)).hold(MIB);
    if (ended > 0) return connections * MIB;
  }
  return Number.POSITIVE_INFINITY;
}

test('a large machine holds the whole budget, a smaller one a 24th of its memory', () => {
  expect(bytesHeld(24 * GIB)).toBe(httpBodiesBytesMax);
  expect(bytesHeld(3 * GIB)).toBe(128 * MIB);
});

test('the smallest machine still holds two of the largest requests', () => {
  expect(bytesHeld(128 * MIB)).toBe(listenerBudgetBytesMin);
});
