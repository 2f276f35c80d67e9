// Attack: compares the builder's moves and the certificate with a plain exact solver, for random
// small clusters, changes and even illegal tables.
import { type Random, seededRandom } from '@ringwright/base/random';
import { type Certificate, certify } from '@ringwright/builder/certify/certify';
import { placementProblem } from '@ringwright/builder/placement/placement-problem';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Ring, Table } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { faultsOf, type Tier, tiersByName, tiersOf } from '../support/cluster-definition.ts';
import { fewestMoves } from '../support/fewest-moves.ts';
import {
  holders,
  randomChanges,
  randomCluster,
  settingsOf,
  startingRing,
} from '../support/small-cluster.ts';

const ID = 'e'.repeat(64);
const INSTANCES = 400;
const WAVES_MAX = 8;

test(`${INSTANCES} instances: moves equal the optimum, and only the optimum is certified`, () => {
  const seen = { optimal: 0, wasteful: 0, illegal: 0 };
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const first = randomCluster(random);
    const ring = startingRing(first, random);
    const state = randomChanges(first, random);
    if (holders(state) < Math.ceil(state.replicas)) continue;
    const tiers = tiersByName(state, settingsOf(first).partitions);
    const optimum = fewestMoves(ring.table, state, tiers);
    const { table, ...cost } = converged(ring, state);
    checkCost(cost, optimum, `seed ${seed}`);
    for (const after of [table, afresh(state), swapped(table, random)]) {
      const verdict = certify({ before: ring.table, after, state });
      if (after === table)
        expect(verdict, `seed ${seed}`).toMatchObject({ moves: optimum, faults: [] });
      checkVerdict(verdict, { before: ring.table, after, state, optimum: optimum!, seed });
      if (verdict.faults.length > 0) seen.illegal += 1;
      else seen[verdict.optimal ? 'optimal' : 'wasteful'] += 1;
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(INSTANCES / 8);
});

test(`${INSTANCES / 2} instances with overload: moves equal the optimum, and are certified`, () => {
  for (let seed = 1; seed <= INSTANCES / 2; seed += 1) {
    const random = seededRandom(seed);
    const overload = [0.05, 0.1, 0.5, 2][random.below(4)]!;
    const first = { ...randomCluster(random), overload };
    const ring = startingRing(first, random);
    const state = randomChanges(first, random);
    if (holders(state) < Math.ceil(state.replicas)) continue;
    const optimum = fewestMoves(ring.table, state, tiersOfTargets(state));
    const { table, ...cost } = converged(ring, state);
    checkCost(cost, optimum, `seed ${seed}`);
    const verdict = certify({ before: ring.table, after: table, state });
    expect(verdict, `seed ${seed}`).toMatchObject({ optimal: true, moves: optimum });
  }
});

/** Takes the shares with overload as they are, because shares.test.ts tests them. */
function tiersOfTargets(state: BuilderState): Map<string, Tier> {
  const { tree, targets } = placementProblem(state);
  const tiers = new Map<string, Tier>();
  for (let v = 1; v < tree.nodes; v += 1) {
    let leaf = v;
    while (leaf < tree.firstLeaf) leaf = tree.firstChild[leaf]!;
    const device = state.devices[tree.deviceIds[leaf - tree.firstLeaf]!]!;
    const name = tiersOf(device)[tree.level[v]!]!;
    const [floor, ceil] = [targets.floor[v]!, targets.ceil[v]!];
    const [low, high] = [targets.low[v]!, targets.high[v]!];
    tiers.set(name, { name, target: targets.exact[v]!, floor, ceil, low, high });
  }
  return tiers;
}

interface Cost {
  /** In all waves together. */
  readonly moved: number;
  /** Lower bound of the first plan. */
  readonly bound: number;
  readonly waves: number;
}

function checkCost({ moved, bound, waves }: Cost, optimum: number | null, label: string): void {
  expect(moved, `${label}: moves`).toBe(optimum);
  expect(bound, `${label}: bound`).toBeLessThanOrEqual(moved);
  expect(waves, `${label}: waves`).toBeLessThanOrEqual(WAVES_MAX);
}

interface Case {
  readonly before: Table;
  readonly after: Table;
  readonly state: BuilderState;
  readonly optimum: number;
  readonly seed: number;
}

function checkVerdict(verdict: Certificate, { before, after, state, optimum, seed }: Case): void {
  const label = `seed ${seed}`;
  const faults = faultsOf(after, state, tiersByName(state, after[0]!.length));
  expect(verdict.faults.length > 0, `${label}: ${faults.join('; ')}`).toBe(faults.length > 0);
  expect(verdict.moves, label).toBe(newSlots(before, after));
  if (faults.length > 0) expect(verdict.optimal, label).toBe(false);
  else expect(verdict.optimal, label).toBe(verdict.moves === optimum);
  if (faults.length === 0 && !verdict.optimal)
    expect(verdict.cycle.length, label).toBeGreaterThan(1);
}

function newSlots(before: Table, after: Table): number {
  let moves = 0;
  for (const row of after) {
    for (let partition = 0; partition < row.length; partition += 1) {
      if (!before.some((old) => old[partition] === row[partition])) moves += 1;
    }
  }
  return moves;
}

/** Returns the builder's own table after all waves, with its cost. */
function converged(ring: Ring, state: BuilderState): Cost & { readonly table: Table } {
  let head = ring;
  let moved = 0;
  let bound: number | null = null;
  for (let waves = 1; ; waves += 1) {
    const from = { head, headId: ID, state, direct: true };
    const plan = planVersion(from);
    bound ??= plan.moveLowerBound;
    moved += plan.moves.length;
    head = nextRing(plan, from);
    if (plan.movesLeft === 0 || waves > WAVES_MAX)
      return { table: head.table, moved, bound, waves };
  }
}

/** Returns a table planned from nothing: legal, and mostly far from the old one. */
function afresh(state: BuilderState): Table {
  return planVersion({ head: null, headId: null, state }).target;
}

/** Lets two partitions exchange a device: loads stay the same, bounds and moves may not. */
function swapped(table: Table, random: Random): Table {
  const copy = table.map((row) => row.slice());
  for (let tries = 0; tries < 20; tries += 1) {
    const row = copy[random.below(copy.length)]!;
    const [a, b] = [random.below(row.length), random.below(row.length)];
    const twice = copy.some(
      (other) => other !== row && (other[a] === row[b] || other[b] === row[a]),
    );
    if (row[a] === row[b] || twice) continue;
    [row[a], row[b]] = [row[b]!, row[a]!];
    return copy;
  }
  return copy;
}
