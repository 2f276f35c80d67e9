// First handoffs of built rings are spread over many devices. A plain recount confirms the figures.
import { handoffsOf, tierCountsOf } from '@ringwright/ring/handoffs-of';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { Change } from '../state/change.ts';
import { createState } from '../state/create-state.ts';
import { handoffFigures } from './handoff-spread.ts';

const from = { head: null, headId: null, direct: true };

function stateOf(devices: number, zones: number): BuilderState {
  const state = createState({
    ring: 'cities',
    cluster: 'default',
    partitioner: { kind: 'murmur3-mod', partitions: 4096, seed: 0 },
    replicas: 3,
    minPartHours: 0,
    overload: 0,
  });
  const changes = Array.from({ length: devices }, (_, id): Change => {
    const zone = 1 + (id % zones);
    const address = { ip: `10.0.${zone}.${id}`, port: 6200, device: 'sd' };
    return { kind: 'add', device: { id, region: 1, zone, ...address, weight: 1, meta: '' } };
  });
  return applyChanges(state, changes);
}

function built(state: BuilderState): Ring {
  return nextRing(planVersion({ head: null, headId: null, state }), { ...from, state });
}

test('every device of a built ring has many stand-ins, none with much of the work', () => {
  const figures = handoffFigures(built(stateOf(40, 5)));
  expect(figures?.partitions).toBe(4096);
  // 16 devices are in the two zones that a partition's replicas leave free, on average.
  expect(figures?.fewestStandIns).toBeGreaterThanOrEqual(30);
  expect(figures?.mostOnOne).toBeLessThan(0.08);
  expect(figures?.busiest).toBeLessThan(1.4);
});

test('the figures equal those of a plain recount', () => {
  const ring = built(stateOf(12, 4));
  const tiers = tierCountsOf(ring);
  const firsts = Array.from({ length: ring.partitions }, (_, partition) => {
    const [first] = handoffsOf(ring, partition, tiers);
    return { holders: ring.table.map((row) => row[partition]), first: first?.id };
  });
  const shares = ring.devices.flatMap((_, id) => {
    const mine = firsts.filter(({ holders }) => holders.includes(id));
    return ring.devices.map((__, other) => {
      return mine.filter(({ first }) => first === other).length / mine.length;
    });
  });
  const counts = ring.devices.map((_, id) => firsts.filter(({ first }) => first === id).length);
  const figures = handoffFigures(ring);
  expect(figures?.mostOnOne).toBeCloseTo(Math.max(...shares), 12);
  expect(figures?.busiest).toBeCloseTo(Math.max(...counts) / (ring.partitions / 12), 12);
});

test('a ring whose devices all hold everything has no figures', () => {
  expect(handoffFigures(built(stateOf(3, 3)))).toBe(null);
});
