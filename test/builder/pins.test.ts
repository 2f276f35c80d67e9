// Attack: compares random pins on small clusters with all tables that satisfy them.
import { seededRandom } from '@ringwright/base/random';
import { certify } from '@ringwright/builder/certify/certify';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { holdersIn, type Tier, tiersByName } from '../support/cluster-definition.ts';
import { replicasWanted } from '../support/fewest-moves.ts';
import { added, equalDevices, pinnedAndChanged, tinyCluster } from '../support/pinned-cluster.ts';
import { bestSets, fewestBalanced, movesByLoads, worstMiss } from '../support/pinned-tables.ts';
import { firstOf, settingsOf } from '../support/small-cluster.ts';

const ID = 'a'.repeat(64);
const INSTANCES = Number(process.env['INSTANCES'] ?? 80);
const STEPS = 3;

test(`${INSTANCES} random clusters with pins have the best dispersion, balance and moves`, () => {
  const seen = { balanced: 0, unbalanced: 0, refused: 0 };
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    let state = tinyCluster(random);
    let ring = firstOf(state);
    for (let step = 0; step < STEPS; step += 1) {
      state = pinnedAndChanged(state, random);
      const label = `seed ${seed}, step ${step}`;
      if (holdersIn(state).length < Math.ceil(state.replicas)) break;
      if (!canKeepPins(state)) {
        expect(() => planVersion({ head: ring, headId: ID, state, direct: true }), label).toThrow(
          'cannot satisfy its pins',
        );
        seen.refused += 1;
        break;
      }
      const outcome = reach(ring, state, label);
      seen[checkStep({ ring, state, label }, outcome)] += 1;
      ring = outcome.ring;
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(INSTANCES / 50);
});

test('frozen partitions with pins stay, and the result after their rest is the best', () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const plain = { ...tinyCluster(random), minPartHours: 24 };
    const made = firstOf(plain);
    const minVersions = made.minVersions.map(() => 1 + random.below(2));
    const ring: Ring = { ...made, version: 2, parent: ID, minVersions };
    const state = pinnedAndChanged(plain, random);
    if (holdersIn(state).length < Math.ceil(state.replicas) || !canKeepPins(state)) continue;
    const from = { head: ring, headId: ID, state, direct: true };
    const versionHours = new Map([[2, 990]]);
    const plan = planVersion({ ...from, versionHours, nowHours: 1_000 });
    if (state.replicas === plain.replicas) {
      const early = plan.moves.filter(({ partition }) => minVersions[partition] === 2);
      expect(early, `seed ${seed}`).toEqual([]);
    }
    const next = nextRing(plan, from);
    expect(auditRing(next), `seed ${seed}`).toEqual([]);
    const at = { ring: next, state, label: `seed ${seed}` };
    checkStep(at, reach(next, state, at.label));
  }
});

test('a certificate tells the best tables with pins from worse and unpinned ones', () => {
  const seen = { optimal: 0, wasteful: 0, unpinned: 0 };
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const plain = tinyCluster(random);
    const ring = firstOf(plain);
    const state = pinnedAndChanged(plain, random);
    if (holdersIn(state).length < Math.ceil(state.replicas) || !canKeepPins(state)) continue;
    const asked = { state, tiers: tiersByName(state, ring.partitions) };
    const best = fewestBalanced(movesByLoads(ring.table, asked), asked);
    const after = firstOf(state).table;
    const verdict = certify({ before: ring.table, after, state });
    expect(verdict.faults, `seed ${seed}`).toEqual([]);
    if (best !== null) expect(verdict.optimal, `seed ${seed}`).toBe(verdict.moves === best);
    seen[verdict.optimal ? 'optimal' : 'wasteful'] += 1;
    const { pins: _pins, ...free } = state;
    const unpinned = firstOf(free).table;
    if (keepsPins(unpinned, state)) continue;
    const { faults } = certify({ before: ring.table, after: unpinned, state });
    expect(
      faults.map(({ code }) => code),
      `seed ${seed}`,
    ).toContain('BOUNDS_BROKEN');
    seen.unpinned += 1;
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(INSTANCES / 20);
});

test('each single pin on 12 equal devices in 3 zones keeps a replica in every zone', () => {
  const plain = equalDevices({ partitions: 16, replicas: 3, zones: [4, 4, 4] });
  const ring = firstOf(plain);
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    for (let id = 0; id < 12; id += 1) {
      const state = applyChanges(plain, [{ kind: 'pin', pin: { partition, on: [id], off: [] } }]);
      const after = reach(ring, state, `pin ${partition} on d${id}`).ring;
      for (let at = 0; at < after.partitions; at += 1) {
        const zones = holdersOf(after.table, at).map((one) => state.devices[one]!.zone);
        expect(new Set(zones).size, `pin ${partition} on d${id}: ${at}`).toBe(3);
      }
      expect(holdersOf(after.table, partition)).toContain(id);
    }
  }
});

test('a pin costs no balance for two partitions on four equal devices in two zones', () => {
  const plain = equalDevices({ partitions: 2, replicas: 2, zones: [2, 2] });
  const ring = firstOf(plain);
  for (const id of [0, 1, 2, 3]) {
    const state = applyChanges(plain, [{ kind: 'pin', pin: { partition: 0, on: [id], off: [] } }]);
    const after = reach(ring, state, `d${id}`).ring;
    expect(
      after.table.flatMap((row) => [...row]).sort((a, b) => a - b),
      `d${id}`,
    ).toEqual([0, 1, 2, 3]);
  }
});

test('a plan names the pins that cost dispersion and those on devices that hold nothing', () => {
  const plain = equalDevices({ partitions: 8, replicas: 3, zones: [4, 4, 4] });
  const state = applyChanges(plain, [
    { kind: 'pin', pin: { partition: 5, on: [0, 1], off: [] } },
    added(12, { zone: 0, server: 12 }, 0),
    { kind: 'pin', pin: { partition: 6, on: [12], off: [] } },
  ]);
  const { warnings } = planVersion({ head: firstOf(plain), headId: ID, state });
  const found = new Map(warnings.map((warning) => [warning.code, warning.details]));
  expect(found.get('PINS_BREAK_DISPERSION')).toEqual({ partitions: [5] });
  expect(found.get('PINS_UNMET')).toEqual({ pins: [{ partition: 6, id: 12 }] });
});

interface Step {
  readonly ring: Ring;
  readonly state: BuilderState;
  readonly label: string;
}

/**
 * Checks dispersion, then balance, then moves, and what the plan and the certificate say of them.
 */
function checkStep({ ring, state, label }: Step, outcome: Outcome): 'balanced' | 'unbalanced' {
  const { table } = outcome.ring;
  const tiers = tiersByName(state, ring.partitions);
  const asked = { state, tiers };
  for (let partition = 0; partition < ring.partitions; partition += 1) {
    const held = holdersOf(table, partition);
    const best = setsOf(asked, partition).some((set) => set.every((id) => held.includes(id)));
    expect(best, `${label}: partition ${partition} has ${held.join()}`).toBe(true);
  }
  const verdict = certify({ before: ring.table, after: table, state });
  const pinned = state.pins !== undefined;
  expect(verdict, label).toMatchObject({
    faults: [],
    optimal: true,
    pinned,
    moves: outcome.moves,
  });
  expect(outcome.bound, `${label}: bound`).toBeLessThanOrEqual(outcome.moves);
  const reached = movesByLoads(ring.table, asked);
  const fewest = fewestBalanced(reached, asked);
  if (fewest !== null) {
    expect(outcome.moves, `${label}: moves`).toBe(fewest);
    const here = new Map([[loadsOf(table, state).join(), 0]]);
    expect(fewestBalanced(here, asked), `${label}: balance`).toBe(0);
    return 'balanced';
  }
  // No table has floor or ceiling everywhere: the worst device is near that of the best table.
  const least = Math.min(
    ...[...reached.keys()].map((key) => worstMiss(key.split(',').map(Number), asked)),
  );
  expect(worstMiss(loadsOf(table, state), asked), `${label}: worst`).toBeLessThanOrEqual(least + 1);
  return 'unbalanced';
}

interface Outcome {
  readonly ring: Ring;
  readonly moves: number;
  readonly bound: number;
}

/** Carries out all waves. */
function reach(head: Ring, state: BuilderState, label: string): Outcome {
  let ring = head;
  let moves = 0;
  let bound = -1;
  for (let wave = 0; ; wave += 1) {
    const from = { head: ring, headId: ID, state, direct: true };
    const plan = planVersion(from);
    if (bound < 0) bound = plan.moveLowerBound;
    moves += plan.moves.length;
    ring = nextRing(plan, from);
    expect(auditRing(ring), label).toEqual([]);
    if (plan.movesLeft === 0) return { ring, moves, bound };
    expect(wave, `${label}: waves`).toBeLessThan(9);
  }
}

function setsOf(
  problem: { readonly state: BuilderState; readonly tiers: ReadonlyMap<string, Tier> },
  partition: number,
): number[][] {
  const { state } = problem;
  const pin = state.pins?.find((one) => one.partition === partition);
  const { partitions } = settingsOf(state);
  return bestSets(problem, replicasWanted(state, partitions, partition), pin);
}

function canKeepPins(state: BuilderState): boolean {
  const asked = { state, tiers: tiersByName(state, settingsOf(state).partitions) };
  return (state.pins ?? []).every(({ partition }) => setsOf(asked, partition).length > 0);
}

function keepsPins(table: Ring['table'], state: BuilderState): boolean {
  const holders = new Set(holdersIn(state).map(({ id }) => id));
  return (state.pins ?? []).every(({ partition, on, off }) => {
    const held = holdersOf(table, partition);
    return (
      on.every((id) => !holders.has(id) || held.includes(id)) &&
      !off.some((id) => held.includes(id))
    );
  });
}

function holdersOf(table: Ring['table'], partition: number): number[] {
  return table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
}

function loadsOf(table: Ring['table'], state: BuilderState): number[] {
  return holdersIn(state).map(({ id }) =>
    table.reduce((sum, row) => sum + row.filter((one) => one === id).length, 0),
  );
}
