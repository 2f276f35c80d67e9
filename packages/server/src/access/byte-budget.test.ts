// Tests how much memory all connections together may hold, on machines of different sizes.
import { MIB, redisRequestBytesMax } from '@ringwright/base/limits';
import { httpBodiesBytesMax, listenerBudgetBytesMin } from '@ringwright/base/limits-listeners';
import { expect, test } from 'vitest';
import { affordableBytes, ByteBudget } from './byte-budget.ts';

const GIB = 1024 * MIB;

test('a large machine affords the whole budget, a smaller one a 24th of its memory', () => {
  expect(affordableBytes(httpBodiesBytesMax, 24 * GIB)).toBe(httpBodiesBytesMax);
  expect(affordableBytes(httpBodiesBytesMax, 3 * GIB)).toBe(128 * MIB);
});

test('the smallest machine still affords two of the largest requests', () => {
  expect(affordableBytes(httpBodiesBytesMax, 128 * MIB)).toBe(listenerBudgetBytesMin);
  expect(listenerBudgetBytesMin).toBe(2 * redisRequestBytesMax);
});

test('beyond the budget, the connection that made progress least recently ends', () => {
  const budget = new ByteBudget(3 * MIB);
  const ended: string[] = [];
  const [a, b] = ['a', 'b'].map((name) => budget.connection(() => ended.push(name)));
  a!.hold(2 * MIB);
  b!.hold(MIB);
  expect(ended).toEqual([]);
  a!.noteProgress();
  a!.hold(2 * MIB + 1);
  expect(ended).toEqual(['b']);
  expect(budget.bytes).toBe(2 * MIB + 1);
});

test('bytes that a connection reports after its end are not counted', () => {
  const budget = new ByteBudget(3 * MIB);
  const ended: string[] = [];
  const [left, first, last] = ['left', 'first', 'last'].map((name) =>
    budget.connection(() => ended.push(name)),
  );
  left!.hold(MIB);
  left!.leave();
  left!.hold(2 * MIB);
  expect(budget.bytes).toBe(0);
  first!.hold(2 * MIB);
  last!.hold(2 * MIB);
  expect(ended).toEqual(['first']);
  first!.hold(2 * MIB);
  expect([ended, budget.bytes]).toEqual([['first'], 2 * MIB]);
});
