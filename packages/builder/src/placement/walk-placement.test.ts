// Compares placement by tokens with a separate walk for each partition, while random devices join
// and leave and the number of replicas changes.
import { seededRandom } from '@ringwright/base/random';
import { equalEnd, randomEnds } from '@ringwright/ring/partitioner/hash-ends';
import type { HashIntervalsPartitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { nextRing } from '../plan/next-ring.ts';
import { planVersion } from '../plan/plan-version.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { createState } from '../state/create-state.ts';

const id = 'f'.repeat(64);

/** Returns the first different devices of a clockwise walk from this end. */
function slowList({ devices, replicas }: BuilderState, end: number): number[] {
  const tokens = devices.flatMap((device) =>
    device?.state === 'active' && device.weight > 0
      ? (device.tokens ?? []).map((token) => ({ device: device.id, token }))
      : [],
  );
  const distance = (token: number): number => (token - end + 2 ** 32) % 2 ** 32;
  const near = tokens.sort((a, b) => distance(a.token) - distance(b.token));
  return [...new Set(near.map(({ device }) => device))].slice(0, replicas);
}

function holders({ table }: Ring, partition: number): number[] {
  return table.flatMap((row) => row[partition] ?? []);
}

function committed(state: BuilderState, head: Ring | null): Ring {
  let ring = head;
  for (;;) {
    const from = { head: ring, headId: ring === null ? null : id, state, direct: true };
    const plan = planVersion(from);
    expect(plan.warnings.map(({ code }) => code)).not.toContain('DEVICE_OVER_SHARE');
    ring = nextRing(plan, from);
    if (plan.movesLeft === 0) return ring;
  }
}

test.each([1, 2, 3, 4, 5, 6])('each partition has the devices of its walk (seed %i)', (seed) => {
  const random = seededRandom(seed);
  const partitions = 1 + random.below(40);
  const ends = randomEnds(partitions, seed);
  const partitioner: HashIntervalsPartitioner = {
    kind: 'hash-intervals',
    hash: 'jenkins',
    partitions,
    ...(seed % 2 === 0 && { ends }),
  };
  const endOf = (partition: number): number =>
    partitioner.ends?.[partition] ?? equalEnd(partition, partitions);
  const settings = { ring: 'walk', cluster: 'test', placement: 'tokens' } as const;
  const rules = { minPartHours: 0, overload: 0, replicas: 2 };
  let state = createState({ ...settings, ...rules, partitioner });
  let head: Ring | null = null;
  for (let step = 0; step < 12; step += 1) {
    const next = state.devices.length;
    const active = state.devices.filter((device) => device?.state === 'active');
    const device = { region: 1, zone: step, ip: '10.0.0.1', port: 6200, device: `n${next}` };
    const leaver = active[random.below(active.length)]?.id ?? 0;
    const tokens = [random.next(), random.next()].slice(0, 1 + random.below(2));
    state = applyChanges(state, [
      active.length < 5 || random.below(3) > 0
        ? { kind: 'add', device: { id: next, ...device, weight: 1, meta: '' }, tokens }
        : { kind: 'remove', id: leaver },
    ]);
    if (step === 8) state = applyChanges(state, [{ kind: 'set', settings: { replicas: 3 } }]);
    if (step === 10) state = applyChanges(state, [{ kind: 'set', settings: { replicas: 2 } }]);
    if (step < 3) continue;
    head = committed(state, head);
    for (let partition = 0; partition < partitions; partition += 1) {
      const wanted = slowList(state, endOf(partition));
      expect(new Set(holders(head, partition))).toEqual(new Set(wanted));
    }
  }
});

test('a plan for a joiner contains exactly the difference between the two walks', () => {
  const partitioner = { kind: 'hash-intervals', hash: 'jenkins', partitions: 20 } as const;
  const rules = { minPartHours: 0, overload: 0, replicas: 2, placement: 'tokens' } as const;
  let state = createState({ ring: 'walk', cluster: 'test', ...rules, partitioner });
  for (const [at, place] of [0, 0.25, 0.5, 0.75, 0.85].entries()) {
    if (at === 4) break;
    const device = { id: at, region: 1, zone: 1, ip: '10.0.0.1', port: 6200, device: `n${at}` };
    const tokens = [Math.floor(place * 2 ** 32)];
    state = applyChanges(state, [
      { kind: 'add', device: { ...device, weight: 1, meta: '' }, tokens },
    ]);
  }
  const head = committed(state, null);
  const device = { id: 4, region: 1, zone: 1, ip: '10.0.0.1', port: 6200, device: 'n4' };
  const joined = applyChanges(state, [
    { kind: 'add', device: { ...device, weight: 1, meta: '' }, tokens: [3_650_722_201] },
  ]);
  const plan = planVersion({ head, headId: id, state: joined });
  // Partitions that end above 0.5, up to 0.85, get the joiner, and lose the last of their devices.
  expect(plan.moves.map(({ partition, from }) => [partition, from])).toEqual([
    [11, 0],
    [12, 0],
    [13, 0],
    [14, 0],
    [15, 0],
    [16, 1],
    [17, 1],
  ]);
  expect(plan.optimum).toEqual({ moves: 7, proof: 'bound' });
});
