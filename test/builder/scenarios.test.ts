// Attack: clusters shaped like S1 to S3 of the Swift baseline: moves at the bound, good figures.
import { seededRandom } from '@ringwright/base/random';
import { ringFigures } from '@ringwright/builder/analysis/figures';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { firstOf } from '../support/small-cluster.ts';

const ID = 'e'.repeat(64);

interface Scenario {
  readonly name: string;
  readonly power: number;
  /** Number of servers by zone. Zones from `secondRegion` on are in region 2. */
  readonly servers: readonly number[];
  readonly secondRegion: number;
  readonly disks: number;
  readonly weights: 'equal' | 'mixed';
  /** Maximum variance of pairs after a first placement, as a share of that of a random ring. */
  readonly variance: number;
}

const scenarios: readonly Scenario[] = [
  {
    name: 'S1',
    power: 10,
    servers: [1, 1, 1, 1],
    secondRegion: 9,
    disks: 3,
    weights: 'equal',
    variance: 0.3,
  },
  {
    name: 'S2',
    power: 16,
    servers: [4, 4, 4, 4, 4],
    secondRegion: 9,
    disks: 5,
    weights: 'equal',
    variance: 0.1,
  },
  {
    name: 'S3',
    power: 18,
    servers: [9, 8, 8, 9, 8, 8],
    secondRegion: 3,
    disks: 10,
    weights: 'mixed',
    variance: 0.4,
  },
];

test.each(scenarios)('$name has good figures and moves at the bound', (scenario) => {
  const state = stateOf(scenario);
  const ring = firstOf(state);
  const spread = expectBalanced(ring, state);
  expect(spread?.variance).toBeLessThan(scenario.variance);
  for (const [name, changes] of changesOf(scenario, state)) {
    const after = applyChanges(state, changes);
    const input = { head: ring, headId: ID, state: after, direct: true };
    const plan = planVersion(input);
    expect(plan.moves.length, name).toBe(plan.moveLowerBound);
    expect(plan.movesLeft, name).toBe(0);
    expectBalanced(nextRing(plan, input), after);
  }
});

function expectBalanced(ring: Ring, state: BuilderState) {
  const { balance, dispersion, spread } = ringFigures(ring, state);
  expect(balance.worstSlots).toBeLessThan(1);
  expect(balance.worstTierSlots).toBeLessThan(1);
  expect(balance.slotsToClear).toBe(0);
  for (const { slotsOverCap, unavoidable } of dispersion) expect(slotsOverCap).toBe(unavoidable);
  return spread;
}

function server(
  first: number,
  place: { region: number; zone: number; number: number },
  weights: readonly number[],
): Change[] {
  return weights.map((weight, disk) => {
    const { region, zone, number } = place;
    const address = { ip: `10.${region}.${zone}.${number}`, port: 6200, device: `sd${disk}` };
    return {
      kind: 'add',
      device: { id: first + disk, region, zone, ...address, weight, meta: '' },
    };
  });
}

function stateOf(scenario: Scenario): BuilderState {
  const random = seededRandom(scenario.power);
  const changes: Change[] = [];
  scenario.servers.forEach((servers, zone) => {
    const region = zone < scenario.secondRegion ? 1 : 2;
    for (let number = 1; number <= servers; number += 1) {
      const weights = Array.from({ length: scenario.disks }, () =>
        scenario.weights === 'equal' ? 100 : 100 * (1 + random.below(8)),
      );
      changes.push(...server(changes.length, { region, zone, number }, weights));
    }
  });
  const partitioner = { kind: 'md5-shift', power: scenario.power, prefix: '', suffix: '' } as const;
  const settings = { replicas: 3, minPartHours: 0, overload: 0 };
  const empty = createState({ ring: 'bench', cluster: 'test', partitioner, ...settings });
  return applyChanges(empty, changes);
}

function changesOf(scenario: Scenario, state: BuilderState): [string, Change[]][] {
  const next = state.devices.length;
  const disks = Array.from({ length: scenario.disks }, (_, id) => id);
  const full = disks.map(() => 100);
  const weight = state.devices[0]?.weight ?? 0;
  return [
    ['nothing', []],
    ['add a device', server(next, { region: 1, zone: 0, number: 77 }, [100])],
    ['add a server', server(next, { region: 1, zone: 0, number: 77 }, full)],
    ['add a zone', server(next, { region: 1, zone: 77, number: 1 }, full)],
    ['remove a device', [{ kind: 'remove', id: 1 }]],
    ['remove a server', disks.map((id) => ({ kind: 'remove', id }))],
    ['double a weight', [{ kind: 'set-weight', id: 0, weight: weight * 2 }]],
    ['drain a server', disks.map((id) => ({ kind: 'set-weight', id, weight: 0 }))],
  ];
}
