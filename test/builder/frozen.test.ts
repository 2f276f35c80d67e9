// Attack: random clusters with overload, junk tables and half of the partitions frozen.
import { seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { replicasWanted } from '../support/fewest-moves.ts';
import { holders, randomChanges, randomCluster, startingRing } from '../support/small-cluster.ts';

const ID = 'd'.repeat(64);
const INSTANCES = 300;
/** Version 1 is old, version 2 was committed ten hours ago. */
const times = {
  versionHours: new Map([
    [1, 0],
    [2, 990],
  ]),
  nowHours: 1_000,
};

test(`${INSTANCES} random instances: frozen partitions stay, and later all comes right`, () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) checkInstance(seed);
});

function checkInstance(seed: number): void {
  const label = `seed ${seed}`;
  const random = seededRandom(seed);
  const overload = [0, 0.1, 0.5, 10][random.below(4)]!;
  const first = { ...randomCluster(random), minPartHours: 24, overload };
  const made = startingRing(first, random);
  const minVersions = made.minVersions.map(() => 1 + random.below(2));
  const head: Ring = { ...made, version: 2, parent: ID, minVersions };
  const state = randomChanges(first, random);
  if (holders(state) < Math.ceil(state.replicas)) return;
  const from = { head, headId: ID, state, direct: true };
  const plan = planVersion({ ...from, ...times });
  for (const { partition, from: device } of plan.moves) {
    if (minVersions[partition] !== 2 || device === null) continue;
    const count = head.table.filter((row) => partition < row.length).length;
    if (replicasWanted(state, head.partitions, partition) !== count) continue;
    expect(state.devices[device]?.state, `${label}: partition ${partition}`).toBe('removed');
  }
  const next = nextRing(plan, from);
  expect(auditRing(next), label).toEqual([]);
  converge(next, state, label);
}

/** When nothing is frozen any more, waves bring every device within one of its share. */
function converge(start: Ring, state: BuilderState, label: string): void {
  let head = start;
  for (let wave = 0, left = true; left; wave += 1) {
    expect(wave, `${label}: waves`).toBeLessThan(8);
    const from = { head, headId: ID, state, direct: true };
    const plan = planVersion(from);
    head = nextRing(plan, from);
    left = plan.movesLeft > 0;
  }
  const plan = planVersion({ head, headId: ID, state });
  expect(plan.moves, label).toEqual([]);
  for (const { after, share } of plan.devices) {
    expect(Math.abs(after - share), label).toBeLessThan(1);
  }
}
