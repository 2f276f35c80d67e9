// Tests the next step of a rollout for every mix of moves: copies are limited, new slots are not.
import type { Move } from '@ringwright/ring/move';
import { expect, test } from 'vitest';
import { copySteps, nextRolloutStep } from './rollout-step.ts';

const move = (assignment: number, state: Move['state'], from: number | null = 0): Move => ({
  ...{ partition: assignment, replica: 0, to: 9, assignment },
  ...{ state, from },
});
const proposed = [1, 2, 3, 4].map((id) => move(id, 'PROPOSED'));
const copying = [5, 6].map((id) => move(id, 'INITIALIZING'));
const fresh = [7, 8, 9].map((id) => move(id, 'PROPOSED', null));

const stepOf = (moves: readonly Move[], most: number): string => {
  const limits = { moves: most, bytes: Number.POSITIVE_INFINITY, bytesOf: () => 1 };
  const step = nextRolloutStep({ moves }, limits);
  return step.kind === 'drain' ? 'drain' : `${step.kind} ${step.moves.length}`;
};

test.each<[string, readonly Move[], number, string]>([
  ['without moves in flight the old holders drain', [], 2, 'drain'],
  ['without a limit all moves initialize', proposed, Number.POSITIVE_INFINITY, 'initialize 4'],
  ['as many moves initialize as the limit allows', proposed, 3, 'initialize 3'],
  ['copies under way count toward the limit', [...proposed, ...copying], 3, 'initialize 1'],
  ['at the limit the copies under way finish first', [...proposed, ...copying], 2, 'finalize 2'],
  ['copies under way finish together, even beyond the limit', copying, 1, 'finalize 2'],
  ['new slots initialize together, beyond the limit', [...fresh, ...copying], 1, 'initialize 3'],
  ['new slots do not count toward the limit', [...fresh, ...proposed], 2, 'initialize 5'],
])('%s', (...[, moves, most, wanted]) => {
  expect(stepOf(moves, most)).toBe(wanted);
});

test('copies stay within the byte limit, except for a single larger move', () => {
  const sizes = new Map(proposed.map(({ partition }) => [partition, 10 * partition]));
  const begun = (moves: readonly Move[], bytes: number): string => {
    const bytesOf = (partition: number): number => sizes.get(partition) ?? 25;
    const step = nextRolloutStep({ moves }, { moves: 9, bytes, bytesOf });
    const ids = step.kind === 'drain' ? [] : step.moves.map(({ assignment }) => assignment);
    return `${step.kind} ${ids.join(' ')}`;
  };
  expect(begun(proposed, 60)).toBe('initialize 1 2 3');
  expect(begun(proposed, 55)).toBe('initialize 1 2');
  expect(begun(proposed, 5)).toBe('initialize 1');
  expect(begun([...copying, ...proposed], 65)).toBe('initialize 1');
  expect(begun([...copying, ...proposed], 50)).toBe('finalize 5 6');
  expect(begun([...fresh, ...proposed], 5)).toBe('initialize 7 8 9 1');
});

test('copySteps returns the copy steps that a rollout with these limits takes', () => {
  const bytesOf = (partition: number): number => 10 * partition;
  const waves = [proposed, [...fresh, move(5, 'PROPOSED')]];
  const steps = (bytes: number) => copySteps(waves, { moves: 9, bytes, bytesOf });
  const told = (bytes: number) => steps(bytes).map((step) => `${step.moves}: ${step.bytes}`);
  expect(told(Number.POSITIVE_INFINITY)).toEqual(['4: 100', '4: 290']);
  expect(told(60)).toEqual(['3: 60', '1: 40', '4: 290']);
  expect(told(5)).toEqual(['1: 10', '1: 20', '1: 30', '1: 40', '4: 290']);
  expect(steps(60).reduce((sum, one) => sum + one.moves, 0)).toBe(8);
});
