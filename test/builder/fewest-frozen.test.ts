// Attack: half of the partitions are frozen. Compares imbalance and moves with an exact solver.
import { seededRandom } from '@ringwright/base/random';
import { rebalance } from '@ringwright/builder/flow/rebalance';
import { interimTargets } from '@ringwright/builder/placement/interim-targets';
import { type Placement, placementOf } from '@ringwright/builder/placement/placement';
import { placementProblem } from '@ringwright/builder/placement/placement-problem';
import { movesTo } from '@ringwright/builder/plan/plan-optimum';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { expect, test } from 'vitest';
import { holdersIn, tiersByName } from '../support/cluster-definition.ts';
import { fewestFrozen, interimTiers, quotaArcs } from '../support/fewest-frozen.ts';
import { type FlowArc, minCostFlow } from '../support/min-cost-flow.ts';
import {
  holders,
  randomChanges,
  randomCluster,
  settingsOf,
  startingRing,
} from '../support/small-cluster.ts';

const INSTANCES = 400;

test(`${INSTANCES} instances with frozen partitions: least imbalance, then fewest moves`, () => {
  let checked = 0;
  for (let seed = 1; seed <= INSTANCES * 2 && checked < INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const first = randomCluster(random);
    const ring = startingRing(first, random);
    const { replicas } = first;
    const state = { ...drainedForRemoved(randomChanges(first, random)), replicas };
    if (holders(state) < Math.ceil(state.replicas)) continue;
    const frozen = Uint8Array.from(ring.minVersions, () => random.below(2));
    const tiers = tiersByName(state, settingsOf(first).partitions);
    const asked = { table: ring.table, state, tiers, frozen };
    const interim = interimTiers(asked);
    const best = fewestFrozen({ ...asked, interim });
    const { tree, targets } = placementProblem(state);
    const before = placementOf(ring, tree);
    const aim = interimTargets(tree, targets, { placement: before, frozen, forced: null });
    const wanted = rebalance({ tree, targets: aim, before, replicas, frozen, forced: null });
    const surplus = leastSurplus(state, interim, loadsById(wanted, tree.deviceIds));
    const moves = movesTo(before, wanted);
    expect({ surplus, moves }, `seed ${seed}`).toEqual(best);
    checked += 1;
  }
  expect(checked).toBe(INSTANCES);
});

/** Slots of removed devices must leave even frozen partitions, which is tested elsewhere. */
function drainedForRemoved(state: BuilderState): BuilderState {
  const devices = state.devices.map((device) =>
    device?.state === 'removed' ? { ...device, state: 'active' as const, weight: 0 } : device,
  );
  return { ...state, devices };
}

function loadsById(placement: Placement, deviceIds: Int32Array): Map<number, number> {
  const loads = new Map<number, number>();
  for (const leaf of placement.leaf) {
    if (leaf === placement.none) continue;
    const id = deviceIds[leaf]!;
    loads.set(id, (loads.get(id) ?? 0) + 1);
  }
  return loads;
}

/**
 * Returns the slots above quota, for the rounding of interim shares that suits these loads best.
 */
function leastSurplus(
  state: BuilderState,
  interim: ReturnType<typeof interimTiers>,
  loads: ReadonlyMap<number, number>,
): number {
  const arcs: FlowArc[] = [];
  let slots = 0;
  for (const device of holdersIn(state)) {
    const load = loads.get(device.id) ?? 0;
    slots += load;
    const quota = `quota device ${device.id}`;
    arcs.push({ from: 'source', to: `load ${device.id}`, low: load, high: load, cost: 0 });
    arcs.push({ from: `load ${device.id}`, to: quota, low: 0, high: load, cost: 0 });
    arcs.push({ from: `load ${device.id}`, to: 'pool', low: 0, high: load, cost: 1 });
    arcs.push({ from: 'pool', to: quota, low: 0, high: 1e6, cost: 0 });
  }
  arcs.push(...quotaArcs(state, interim));
  return minCostFlow(arcs, slots)!;
}
