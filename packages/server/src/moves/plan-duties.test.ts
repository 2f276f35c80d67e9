// The duties of a device: each one alone, and a property: once all are done, none is left.
import { cancelMoves, type SlotMove } from '@ringwright/ring/advance-ring';
import { dutyOf } from '@ringwright/ring/duty-of';
import type { Ring } from '@ringwright/ring/ring';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { activeOn, idOf, moveVersions, servedRing } from '../../../../test/support/served-ring.ts';
import { type DutyStep, type Holdings, planDuties } from './plan-duties.ts';

type State = 'filling' | 'ready';
interface Files {
  readonly states: Map<number, State>;
  readonly loaded: Map<number, number>;
}

/** Partition 0 is on devices 0, 1, 2; device 3 joins for device 0. Only partition 0 moves. */
const first = servedRing();
const move: SlotMove = { partition: 0, replica: 0, from: 0, to: 3 };
const [proposed, initializing, finalized] = moveVersions(first, [move]);
const cancelled = cancelMoves(initializing, idOf(initializing), new Set([1]));

/** The duties of `self`, which has only partition 0 to act on: its other files are complete. */
function stepsOf(ring: Ring, self: number, files: Partial<Files> = {}): string[] {
  const states = new Map<number, State>();
  for (let partition = 1; partition < ring.partitions; partition += 1) {
    if (dutyOf(ring, partition, self).kind === 'SERVE') states.set(partition, 'ready');
  }
  for (const [partition, state] of files.states ?? []) states.set(partition, state);
  const steps = planDuties(activeOn(ring, self), { states, loaded: files.loaded ?? new Map() });
  return steps.map(({ kind, partition }) => `${kind} ${partition}`);
}

const having = (state: State, loaded?: number): Files => ({
  states: new Map([[0, state]]),
  loaded: new Map(loaded === undefined ? [] : [[0, loaded]]),
});

describe('each duty', () => {
  test.each([
    ['a device of the table without a file opens it', first, 0, undefined, ['open 0']],
    ['a device of the table with a complete file does nothing', first, 0, having('ready'), []],
    [
      'a device of the table with an incomplete file refills it',
      first,
      0,
      having('filling'),
      ['refill 0'],
    ],
    ['a proposed joiner accepts writes', proposed, 3, undefined, ['accept 0']],
    ['a proposed joiner does not copy', proposed, 3, having('filling'), []],
    [
      'an initializing joiner without a file accepts writes first',
      initializing,
      3,
      undefined,
      ['accept 0'],
    ],
    ['an initializing joiner loads', initializing, 3, having('filling'), ['load 0']],
    [
      'an initializing joiner loads over an earlier file',
      initializing,
      3,
      having('ready'),
      ['load 0'],
    ],
    ['a loaded joiner waits', initializing, 3, having('filling', 1), []],
    [
      'a load of another assignment does not count',
      initializing,
      3,
      having('filling', 7),
      ['load 0'],
    ],
    [
      'a loaded joiner serves once its move is finalized',
      finalized,
      3,
      having('filling', 1),
      ['serve 0'],
    ],
    ['a joiner that restarted before that refills', finalized, 3, having('filling'), ['refill 0']],
    ['the leaving device keeps serving', initializing, 0, having('ready'), []],
    [
      'the leaving device drains once the move is finalized',
      finalized,
      0,
      having('ready'),
      ['drain 0'],
    ],
    ['a joiner whose move was cancelled drains', cancelled, 3, having('filling', 1), ['drain 0']],
    ['a device without file and duty does nothing', finalized, 0, undefined, []],
  ])('%s', (...[, ring, self, files, wanted]) => {
    expect(stepsOf(ring, self, files)).toEqual(wanted);
  });

  test('a device that the ring does not name only drains the files it has', () => {
    const active = { ...activeOn(finalized, 0), self: null };
    const steps = planDuties(active, having('ready'));
    expect(steps).toEqual([{ kind: 'drain', partition: 0 }]);
  });

  test('a file beyond the partitions of the ring is left alone', () => {
    const states = new Map<number, State>([[99, 'ready']]);
    const steps = planDuties(activeOn(first, 0), { states, loaded: new Map() });
    expect(steps.map(({ partition }) => partition)).not.toContain(99);
  });
});

/** Applies the result of a step that succeeds. */
function apply(step: DutyStep, { states, loaded }: Files): void {
  switch (step.kind) {
    case 'accept':
      states.set(step.partition, 'filling');
      return;
    case 'load':
      loaded.set(step.partition, step.move.assignment);
      return;
    case 'drain':
      states.delete(step.partition);
      loaded.delete(step.partition);
      return;
    default:
      states.set(step.partition, 'ready');
      loaded.delete(step.partition);
  }
}

test('from any files, under any ring, three rounds of duties leave none', () => {
  const rings = [first, proposed, initializing, finalized, cancelled];
  const files = fc.array(
    fc.tuple(
      fc.nat(3),
      fc.constantFrom<State>('filling', 'ready'),
      fc.option(fc.integer({ min: 1, max: 3 })),
    ),
  );
  fc.assert(
    fc.property(fc.constantFrom(...rings), fc.nat(3), files, (ring, self, some) => {
      const active = activeOn(ring, self);
      const holdings: Files & Holdings = {
        states: new Map(some.map(([partition, state]) => [partition, state])),
        loaded: new Map(some.flatMap(([p, , id]) => (id === null ? [] : [[p, id]]))),
      };
      for (let round = 0; round < 3; round += 1) {
        const steps = planDuties(active, holdings);
        expect(new Set(steps.map(({ partition }) => partition)).size).toBe(steps.length);
        for (const step of steps) {
          const duty = dutyOf(ring, step.partition, self).kind;
          const wanted = { drain: 'UNLOAD', load: 'LOAD', accept: 'LOAD' } as const;
          expect(duty).toBe(step.kind in wanted ? wanted[step.kind as 'load'] : 'SERVE');
          apply(step, holdings);
        }
      }
      expect(planDuties(active, holdings)).toEqual([]);
      for (let partition = 0; partition < ring.partitions; partition += 1) {
        const duty = dutyOf(ring, partition, self).kind;
        const state = holdings.states.get(partition);
        if (duty === 'SERVE') expect(state).toBe('ready');
        else expect(state === undefined).toBe(duty === 'UNLOAD');
      }
    }),
  );
});
