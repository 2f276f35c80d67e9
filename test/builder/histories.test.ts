// Attack: long random histories of changes. Every version is checked against the definitions.
import { type Random, seededRandom } from '@ringwright/base/random';
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { certify } from '@ringwright/builder/certify/certify';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import { dropEmptyDevices } from '@ringwright/builder/state/drop-empty-devices';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { faultsOf, tiersByName } from '../support/cluster-definition.ts';

const ID = 'c'.repeat(64);
const PARTITIONS = 512;
const STEPS = 12;

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])('the history of seed %i is optimal', (seed) => {
  const random = seededRandom(seed);
  let state = firstState(random);
  const from = { head: null, headId: null, state, direct: false };
  let ring = nextRing(planVersion(from), from);
  expect(faultsOf(ring.table, state, tiersByName(state, PARTITIONS)), `seed ${seed}`).toEqual([]);
  for (let step = 1; step <= STEPS; step += 1) {
    state = changed(state, random);
    ring = reach(ring, state, `seed ${seed}, step ${step}`);
    state = dropEmptyDevices(state, ring);
    expect(state.devices.every((device) => device?.state !== 'removed')).toBe(true);
  }
});

/** Commits versions until no move is left, each in three steps, and checks the result. */
function reach(start: Ring, state: BuilderState, label: string): Ring {
  let ring = start;
  let moved = 0;
  let bound = -1;
  for (let wave = 0, left = true; left; wave += 1) {
    expect(wave, `${label}: waves`).toBeLessThan(8);
    const from = { head: ring, headId: ID, state, direct: false };
    const plan = planVersion(from);
    if (bound < 0) bound = plan.moveLowerBound;
    const proposed = nextRing(plan, from);
    expect(auditRing(proposed), label).toEqual([]);
    ring = finalizeMoves(initializeMoves(proposed, ID), ID);
    expect(auditRing(ring), label).toEqual([]);
    moved += plan.moves.length;
    left = plan.movesLeft > 0;
  }
  expect(moved, `${label}: moves`).toBeGreaterThanOrEqual(bound);
  const proof = certify({ before: start.table, after: ring.table, state });
  expect(proof, label).toMatchObject({ optimal: true, moves: moved });
  expect(faultsOf(ring.table, state, tiersByName(state, PARTITIONS)), label).toEqual([]);
  const figures = ringFigures(ring, state);
  expect(figures.balance.worstSlots, label).toBeLessThan(1);
  expect(figures.balance.worstTierSlots, label).toBeLessThan(1);
  for (const tier of figures.dispersion) expect(tier.slotsOverCap, label).toBe(tier.unavoidable);
  const again = planVersion({ head: ring, headId: ID, state });
  expect(again.moves, `${label}: a second plan moves nothing`).toEqual([]);
  return ring;
}

function firstState(random: Random): BuilderState {
  const replicas = [2, 3, 2.5, 4][random.below(4)]!;
  const partitioner = { kind: 'murmur3-mod', partitions: PARTITIONS, seed: 0 } as const;
  const settings = { replicas, minPartHours: 0, overload: 0 };
  const state = createState({ ring: 'long', cluster: 'test', partitioner, ...settings });
  const zones = 1 + random.below(5);
  const changes: Change[] = [];
  for (let i = 0; i < 6 + random.below(20); i += 1) {
    changes.push(addition(i, { region: random.below(2), zone: random.below(zones), random }));
  }
  return applyChanges(state, changes);
}

function addition(
  id: number,
  { region, zone, random }: { region: number; zone: number; random: Random },
): Change {
  const ip = `10.${region}.${zone}.${random.below(3)}`;
  const weight = 1 + random.below(8);
  const device = { id, region, zone, ip, port: 6200, device: `d${id}`, weight, meta: '' };
  return { kind: 'add', device };
}

/** Changes the count by at most one, which servers can follow in one version. */
function otherReplicas(state: BuilderState, holders: number, random: Random): BuilderState {
  const replicas = state.replicas + [-1, -0.5, -0.25, 0.25, 0.5, 1][random.below(6)]!;
  if (replicas < 1 || Math.ceil(replicas) > holders) return state;
  return applyChanges(state, [{ kind: 'set', settings: { replicas } }]);
}

function changed(state: BuilderState, random: Random): BuilderState {
  const active = state.devices.flatMap((one) => (one?.state === 'active' ? [one.id] : []));
  const withWeight = state.devices.filter((one) => one?.state === 'active' && one.weight > 0);
  const id = active[random.below(active.length)]!;
  const spare = withWeight.length > Math.ceil(state.replicas);
  switch (random.below(6)) {
    case 5:
      return otherReplicas(state, withWeight.length, random);
    case 0:
      return spare ? applyChanges(state, [{ kind: 'remove', id }]) : state;
    case 1:
      return spare ? applyChanges(state, [{ kind: 'set-weight', id, weight: 0 }]) : state;
    case 2:
      return applyChanges(state, [{ kind: 'set-weight', id, weight: 1 + random.below(9) }]);
    default: {
      const spot = { region: random.below(2), zone: random.below(6), random };
      return applyChanges(state, [addition(state.devices.length, spot)]);
    }
  }
}
