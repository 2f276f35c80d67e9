// What a rollout does next, for every mix of moves: so many copy at once, new slots together.
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
  ['nothing is in flight', [], 2, 'drain'],
  ['all may copy', proposed, Number.POSITIVE_INFINITY, 'initialize 4'],
  ['only so many may', proposed, 3, 'initialize 3'],
  ['as many as have room', [...proposed, ...copying], 3, 'initialize 1'],
  ['no room: those that copy come first', [...proposed, ...copying], 2, 'finalize 2'],
  ['all copy', copying, 1, 'finalize 2'],
  ['new slots come together, however many', [...fresh, ...copying], 1, 'initialize 3'],
  ['and take nobody else a place', [...fresh, ...proposed], 2, 'initialize 5'],
])('%s', (...[, moves, most, wanted]) => {
  expect(stepOf(moves, most)).toBe(wanted);
});

test('no more bytes at once than asked for, except those of one move', () => {
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

test('a plan tells in which steps a rollout copies: those that it takes', () => {
  const bytesOf = (partition: number): number => 10 * partition;
  const waves = [proposed, [...fresh, move(5, 'PROPOSED')]];
  const steps = (bytes: number) => copySteps(waves, { moves: 9, bytes, bytesOf });
  const told = (bytes: number) => steps(bytes).map((step) => `${step.moves}: ${step.bytes}`);
  expect(told(Number.POSITIVE_INFINITY)).toEqual(['4: 100', '4: 290']);
  expect(told(60)).toEqual(['3: 60', '1: 40', '4: 290']);
  expect(told(5)).toEqual(['1: 10', '1: 20', '1: 30', '1: 40', '4: 290']);
  expect(steps(60).reduce((sum, one) => sum + one.moves, 0)).toBe(8);
});
