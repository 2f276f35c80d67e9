// What a rollout does next, for every mix of moves: so many copy at once, new slots together.
import type { Move } from '@ringwright/ring/move';
import { expect, test } from 'vitest';
import { nextRolloutStep } from './rollout-step.ts';

const move = (assignment: number, state: Move['state'], from: number | null = 0): Move => ({
  ...{ partition: assignment, replica: 0, to: 9, assignment },
  ...{ state, from },
});
const proposed = [1, 2, 3, 4].map((id) => move(id, 'PROPOSED'));
const copying = [5, 6].map((id) => move(id, 'INITIALIZING'));
const fresh = [7, 8, 9].map((id) => move(id, 'PROPOSED', null));

const stepOf = (moves: readonly Move[], most: number): string => {
  const step = nextRolloutStep({ moves }, most);
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
