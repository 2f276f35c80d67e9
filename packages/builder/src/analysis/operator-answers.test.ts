// Attack: drill, risk, frontier, why and revert agree with their definitions on random clusters.
import { diskReserveBytes } from '@ringwright/base/limits-store';
import { seededRandom } from '@ringwright/base/random';
import { finalizeMoves, initializeMoves, proposeMoves } from '@ringwright/ring/advance-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { firstOf, holders, randomCluster } from '../../../../test/support/small-cluster.ts';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { revertPlan, revertState } from '../plan/revert-plan.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { Change } from '../state/change.ts';
import { tierName } from '../state/tier-name.ts';
import { availabilityOf } from './availability.ts';
import { domainSpreads } from './domain-spread.ts';
import { drillRing } from './drill.ts';
import { overloadFrontier } from './frontier.ts';
import { movesAtRisk } from './moves-at-risk.ts';
import { neverFits, planTraffic } from './plan-traffic.ts';
import { simulate } from './simulate.ts';
import { tierPlans } from './tier-plans.ts';
import { whySlots } from './why-slot.ts';

const ID = 'e'.repeat(64);
const SEED = Number(process.env['SEED'] ?? 20261121);
const CASES = 60;

/** Returns a cluster with an added device, the ring before it, and the ring with moves in flight. */
function movingCluster(seed: number): { state: BuilderState; first: Ring; moving: Ring } {
  const random = seededRandom(seed);
  const before = randomCluster(random);
  const first = firstOf(before);
  const id = before.devices.length;
  const device = { id, region: 0, zone: 9, ip: '10.9.9.9', port: 6200, device: 'sdz' };
  const add = { kind: 'add' as const, device: { ...device, weight: 2, meta: '' } };
  const state = applyChanges(before, [add]);
  const input = { head: first, headId: ID, state, direct: false };
  return { state, first, moving: nextRing(planVersion(input), input) };
}

const seeds = Array.from({ length: CASES }, (_, index) => SEED + index);

test.each(seeds)('a drill agrees with a count of the slots and with plans (SEED=%i)', (seed) => {
  const { state, moving } = movingCluster(seed);
  const random = seededRandom(seed + 1);
  const gone = state.devices.flatMap((device) =>
    device !== null && random.below(3) === 0 ? [device.id] : [],
  );
  const isGone = (id: number | null): boolean => id !== null && gone.includes(id);
  const wanted = { slotsLost: 0, belowWriteQuorum: 0, belowReadQuorum: 0, withoutReplica: 0 };
  for (let partition = 0; partition < moving.partitions; partition += 1) {
    const slots = moving.table.flatMap((row, replica) => {
      const held = row[partition];
      const move = moving.moves.find((m) => m.partition === partition && m.replica === replica);
      return held === undefined ? [] : [{ held, to: move?.to ?? null }];
    });
    const readable = slots.filter(({ held }) => !isGone(held)).length;
    const writable = slots.filter(({ held, to }) => !isGone(held) && !isGone(to)).length;
    const quorum = Math.floor(slots.length / 2) + 1;
    wanted.slotsLost += slots.length - readable;
    if (readable < quorum) wanted.belowReadQuorum += 1;
    if (writable < quorum) wanted.belowWriteQuorum += 1;
    if (readable === 0) wanted.withoutReplica += 1;
  }
  const drill = drillRing(moving, state, gone);
  expect(drill.availability).toMatchObject(wanted);
  const left = holders(state) - gone.length;
  expect(drill.unrecoverable === null).toBe(left >= Math.ceil(state.replicas));
  if (drill.unrecoverable !== null) return;
  const taken = drill.survivors.reduce((sum, { slotsIn }) => sum + slotsIn, 0);
  expect(taken).toBe(drill.recoveryMoves);
  expect(taken).toBe(movesWithout(moving, state, gone));
  expect(taken).toBeGreaterThanOrEqual(drill.availability.slotsLost);
});

/** Counts the moves of all commits that remove these devices, until no move is left. */
function movesWithout(moving: Ring, state: BuilderState, gone: readonly number[]): number {
  const after = applyChanges(state, gone.map((id) => ({ kind: 'remove', id })) as Change[]);
  let head: Ring = { ...moving, moves: [] };
  let moves = 0;
  for (let left = true; left; ) {
    const input = { head, headId: ID, state: after, direct: true };
    const plan = planVersion(input);
    head = nextRing(plan, input);
    moves += plan.moves.length;
    left = plan.movesLeft > 0;
  }
  return moves;
}

test.each(seeds)('the risk of a tier equals a drill of each of its domains (SEED=%i)', (seed) => {
  const { state, first, moving } = movingCluster(seed);
  const partitions = new Set(moving.moves.map(({ partition }) => partition));
  for (const risk of movesAtRisk(first, moving.moves, state)) {
    const domains = state.devices.map((device) =>
      device === null ? '' : tierName(device, risk.tier),
    );
    const counted = (ring: Ring): number => {
      const fallen = new Set<number>();
      for (const domain of new Set(domains)) {
        const gone = Uint8Array.from(domains, (name) => (name === domain ? 1 : 0));
        for (const partition of partitions) {
          const one = onlyPartition(ring, partition);
          if (availabilityOf(one, gone).belowWriteQuorum > 0) fallen.add(partition);
        }
      }
      return fallen.size;
    };
    expect(risk.before).toBe(counted(first));
    expect(risk.while).toBe(counted(moving));
    expect(risk.while).toBeGreaterThanOrEqual(risk.before);
  }
});

test('partitions at risk are safe once the moves of an added replica are done', () => {
  const { state } = movingCluster(SEED);
  const template = state.devices.find((device) => device !== null)!;
  const devices = [0, 1, 2].map((id) => ({ ...template, id, zone: id }));
  const table = [Uint16Array.of(0, 0), Uint16Array.of(1, 1)];
  const moves = [0, 1].map((partition) => ({
    ...{ partition, replica: 2, from: 0, to: 2, assignment: partition },
    state: 'PROPOSED' as const,
  }));
  const zone = movesAtRisk({ table }, moves, { devices }).find(({ tier }) => tier === 'zone');
  expect(zone).toMatchObject({ before: 2, after: 0 });
});

function onlyPartition(ring: Ring, partition: number): Ring {
  const table = ring.table.flatMap((row) =>
    partition < row.length ? [row.slice(partition, partition + 1)] : [],
  );
  const moves = ring.moves
    .filter((move) => move.partition === partition)
    .map((move) => ({ ...move, partition: 0 }));
  return { ...ring, partitions: 1, table, moves };
}

test.each(seeds)(
  'tiers of a plan add up, and domains are within their bounds (SEED=%i)',
  (seed) => {
    const { state, first, moving } = movingCluster(seed);
    const plan = planVersion({ head: first, headId: ID, state, direct: false });
    for (const tier of ['region', 'zone', 'server'] as const) {
      const rows = tierPlans(state, plan.devices, plan.moves).filter((row) => row.tier === tier);
      const sum = (key: 'before' | 'after' | 'slotsIn' | 'slotsOut'): number =>
        rows.reduce((all, row) => all + row[key], 0);
      expect(sum('before')).toBe(first.table.reduce((all, row) => all + row.length, 0));
      expect(sum('after')).toBe(sum('before'));
      expect(sum('slotsIn')).toBe(sum('slotsOut'));
      for (const row of rows) expect(row.after).toBe(row.before + row.slotsIn - row.slotsOut);
    }
    const before = applyChanges(state, [{ kind: 'remove', id: state.devices.length - 1 }]);
    for (const domain of domainSpreads(first, before)) {
      expect([domain.tooMany, domain.tooFew]).toEqual([0, 0]);
      expect(domain.counts.reduce((all, one) => all + one, 0)).toBe(first.partitions);
    }
    expect(moving.moves.length).toBe(plan.moves.length);
  },
);

test.each(seeds)('a revert returns every partition to its old devices (SEED=%i)', (seed) => {
  const { state, first, moving } = movingCluster(seed);
  let ring = finalizeMoves(initializeMoves(moving, ID), ID);
  const old = applyChanges(state, [{ kind: 'remove', id: state.devices.length - 1 }]);
  const back = revertState(state, { ...old, devices: old.devices.slice(0, -1) });
  expect(back.devices.at(-1)?.weight).toBe(0);
  for (let wave = 0; wave < 8; wave += 1) {
    const plan = revertPlan({ head: ring, headId: ID, state: back, old: first });
    const seen = plan.moves.map(({ partition }) => partition);
    expect(new Set(seen).size).toBe(seen.length);
    if (plan.moves.length === 0) break;
    ring = finalizeMoves(initializeMoves(proposeMoves(ring, ID, { moves: plan.moves }), ID), ID);
  }
  for (let partition = 0; partition < first.partitions; partition += 1) {
    const set = (one: Ring): number[] =>
      one.table.flatMap((row) => row[partition] ?? []).sort((a, b) => a - b);
    expect(set(ring)).toEqual(set(first));
  }
});

test('a revert moves nothing to a device that is gone, and restores the settings', () => {
  const { state, first, moving } = movingCluster(SEED);
  const ring = finalizeMoves(initializeMoves(moving, ID), ID);
  const without = state.devices.map((device) => (device?.id === 0 ? null : device));
  const plan = revertPlan({
    head: ring,
    headId: ID,
    state: { ...state, devices: without },
    old: first,
  });
  expect(plan.moves.every(({ to }) => to !== 0)).toBe(true);
  const back = revertState({ ...state, devices: without }, { ...state, overload: 0.5 });
  expect(back.overload).toBe(0.5);
  expect(back.devices.at(-1)?.weight).toBe(2);
});

test.each(seeds.slice(0, 20))('more overload never disperses worse (SEED=%i)', (seed) => {
  const state = randomCluster(seededRandom(seed));
  const frontier = overloadFrontier({ head: firstOf(state), headId: ID, state });
  const { points, required, recommended } = frontier;
  points.forEach(({ beyondCapTotal, worstFill, overload }, index) => {
    expect(beyondCapTotal).toBeLessThanOrEqual(points[index - 1]?.beyondCapTotal ?? Infinity);
    expect(worstFill).toBeLessThanOrEqual(1 + overload + 1e-9);
  });
  expect(points.some(({ current }) => current)).toBe(true);
  const best = points.find(({ overload }) => overload === recommended);
  if (required !== null) expect(best?.beyondCapTotal).toBe(0);
});

test.each(seeds.slice(0, 20))(
  'why names a rule for every slot of a fresh ring (SEED=%i)',
  (seed) => {
    const state = randomCluster(seededRandom(seed));
    const ring = firstOf(state);
    for (let partition = 0; partition < ring.partitions; partition += 1) {
      for (const why of whySlots(ring, state, partition)) {
        expect(['only-place', 'full', 'pairs']).toContain(why.rule);
        for (const { held, least, most } of why.domains) {
          expect(held).toBeLessThanOrEqual(most);
          expect(held).toBeGreaterThanOrEqual(least);
        }
        expect(why.domains.every(({ held }) => held > 0)).toBe(true);
      }
    }
  },
);

test('traffic adds up bytes, marks too small disks, and takes the mean for unknown sizes', () => {
  const moves = [
    { partition: 0, replica: 0, from: 0, to: 2 },
    { partition: 1, replica: 0, from: 1, to: 2 },
    { partition: 2, replica: 0, from: 1, to: 3 },
  ];
  const traffic = planTraffic(moves, {
    partitionBytes: (partition) => [100, 300, null][partition] ?? null,
    deviceBytes: (device) => (device === 2 ? { bytes: 50, free: 399, total: null } : null),
    heldBytes: () => 0,
    isAway: () => false,
  });
  expect(traffic).toMatchObject({ bytes: 600, guessed: 1, busiest: { id: 1, bytes: 500 } });
  expect(traffic?.devices).toMatchObject([
    { id: 0, bytesOut: 100, fits: null },
    { id: 1, bytesOut: 500 },
    { id: 2, bytesIn: 400, peakBytes: 450, freeBytes: 399, fits: false },
    { id: 3, bytesIn: 200, peakBytes: null },
  ]);
  const none = { partitionBytes: () => null, deviceBytes: () => null };
  const nobody = { heldBytes: () => 0, isAway: () => true };
  expect(planTraffic(moves, { ...none, ...nobody })).toBe(null);
});

test('a device that is away sends nothing, and bytes already at the target do not travel', () => {
  const moves = [
    { partition: 0, replica: 0, from: 0, to: 2 },
    { partition: 1, replica: 0, from: 1, to: 2 },
  ];
  const traffic = planTraffic(moves, {
    partitionBytes: () => 100,
    deviceBytes: () => ({ bytes: 80, free: 10, total: diskReserveBytes + 10 }),
    heldBytes: (device, partition) => (device === 2 && partition === 1 ? 80 : 0),
    isAway: (device) => device === 0,
  });
  expect(traffic).toMatchObject({ bytes: 120, busiest: { id: 2, bytes: 120 } });
  expect(traffic?.devices).toMatchObject([
    { id: 0, bytesOut: 0, isAway: true },
    { id: 1, bytesOut: 20, isAway: false },
    { id: 2, bytesIn: 120, fits: false },
  ]);
  expect(traffic?.devices.map(neverFits)).toEqual([false, false, true]);
});

test('a simulation applies one step after another, and a refused one makes no version', () => {
  const state = randomCluster(seededRandom(SEED));
  const empty = { ...state, devices: [] };
  const add = state.devices.flatMap((device) => {
    if (device === null) return [];
    const { state: _, ...fields } = device;
    return [{ kind: 'add' as const, device: fields }];
  });
  const steps = simulate(empty, [
    { name: 'first', afterHours: 0, changes: add },
    { name: 'bad', afterHours: 1, changes: [{ kind: 'remove', id: 99 }] },
    { name: 'weight', afterHours: 1, changes: [{ kind: 'set-weight', id: 0, weight: 0 }] },
  ]);
  expect(steps[0]).toMatchObject({ version: 1, moved: 0, refusal: null });
  expect(steps[1]).toMatchObject({ version: 1, refusal: { code: 'DEVICE_UNKNOWN' }, hours: 1 });
  expect(steps[2]).toMatchObject({
    refusal: null,
    hours: 2,
    figures: { balance: { slotsToClear: 0 } },
  });
});
