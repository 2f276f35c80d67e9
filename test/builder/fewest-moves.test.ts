// Attack: random small clusters, changes and even illegal tables against a plain exact solver.
import { seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { expect, test } from 'vitest';
import { faultsOf, tiersByName } from '../support/cluster-definition.ts';
import { fewestMoves } from '../support/fewest-moves.ts';
import {
  holders,
  randomChanges,
  randomCluster,
  settingsOf,
  startingRing,
} from '../support/small-cluster.ts';

const ID = 'a'.repeat(64);
const INSTANCES = 400;

test(`${INSTANCES} random instances: moves equal the optimum, legal at the end`, () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) checkInstance(seed);
});

function checkInstance(seed: number): void {
  const random = seededRandom(seed);
  const first = randomCluster(random);
  const { partitions } = settingsOf(first);
  const ring = startingRing(first, random);
  const state = randomChanges(first, random);
  if (holders(state) < Math.ceil(state.replicas)) return;
  const tiers = tiersByName(state, partitions);
  const optimum = fewestMoves(ring.table, state, tiers);
  const label = `seed ${seed}`;
  expect(optimum, label).not.toBeNull();
  let head = ring;
  let moves = 0;
  let waves = 0;
  for (let left = true; left; waves += 1) {
    const from = { head, headId: ID, state, direct: true };
    const plan = planVersion(from);
    if (waves === 0) expect(plan.moveLowerBound, label).toBeLessThanOrEqual(optimum!);
    moves += plan.moves.length;
    head = nextRing(plan, from);
    left = plan.movesLeft > 0;
    expect(waves, `${label}: waves`).toBeLessThan(8);
  }
  expect(faultsOf(head.table, state, tiers), label).toEqual([]);
  expect(moves, `${label}: moves`).toBe(optimum);
}
