// Attack: a device or a server is replaced in rings of many shapes. The newcomers take exactly the
// slots of the old devices. If servers change their sizes, no ring needs fewer moves.
import { seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';

const ID = 'b'.repeat(64);
const ELSEWHERE = '10.9.9.9';

/** Returns a whole number below the argument. */
type Draw = (below: number) => number;

function drawn(seed: number): Draw {
  const random = seededRandom(seed);
  return (below) => random.below(below);
}

function someCluster(draw: Draw): BuilderState {
  const partitioner = { kind: 'md5-shift', power: 4 + draw(4), prefix: '', suffix: '' } as const;
  const settings = { replicas: 1 + draw(3), minPartHours: 0, overload: draw(2) / 10 };
  const state = createState({ ring: 'test', cluster: 'test', partitioner, ...settings });
  const [zones, servers, disks] = [1 + draw(4), 1 + draw(3), 1 + draw(3)];
  const adds = Array.from({ length: Math.max(5, zones * servers * disks) }, (_, id): Change => {
    const [zone, server] = [id % zones, Math.floor(id / zones) % servers];
    const place = { region: 1, zone, ip: `10.0.${zone}.${server}`, port: 6200, device: `d${id}` };
    return { kind: 'add', device: { id, ...place, weight: 100 + draw(2) * draw(100), meta: '' } };
  });
  return applyChanges(state, adds);
}

function firstRing(state: BuilderState): Ring {
  const first = { head: null, headId: null, state };
  return nextRing(planVersion(first), first);
}

/** Returns each old device with the change that adds its heir. */
function heirsOf(
  { devices }: BuilderState,
  olds: readonly BuilderDevice[],
  ip: string,
): Map<number, Change> {
  return new Map(
    olds.map((old, at) => {
      const { state: _state, ...fields } = old;
      const device = { ...fields, id: devices.length + at, ip, device: `${old.device}new` };
      return [old.id, { kind: 'add', device, replaces: old.id }];
    }),
  );
}

function heldBy(ring: Ring, ids: ReadonlyMap<number, Change>): number {
  return ring.table.reduce((sum, row) => sum + [...row].filter((id) => ids.has(id)).length, 0);
}

test('a server or a single disk is replaced slot by slot, and nothing else moves', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const draw = drawn(seed);
    const state = someCluster(draw);
    const head = firstRing(state);
    const devices = state.devices.flatMap((device) => device ?? []);
    const old = devices[draw(devices.length)] ?? devices[0];
    const isServer = draw(2) === 0;
    const olds = devices.filter(({ id, ip }) => (isServer ? ip === old?.ip : id === old?.id));
    const heirs = heirsOf(state, olds, isServer ? ELSEWHERE : (old?.ip ?? ''));
    const after = applyChanges(state, [...heirs.values()]);
    const plan = planVersion({ head, headId: ID, state: after, direct: true });
    expect(plan.moves, `seed ${seed}`).toHaveLength(heldBy(head, heirs));
    expect(plan.movesLeft).toBe(0);
    for (const { from, to } of plan.moves) {
      expect(heirs.get(from ?? -1), `seed ${seed}`).toMatchObject({ device: { id: to } });
    }
  }
});

test('a replacement together with new weights and replicas takes the fewest moves', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const draw = drawn(seed);
    const state = someCluster(draw);
    const head = firstRing(state);
    const devices = state.devices.flatMap((device) => device ?? []);
    const [old, other] = [devices[draw(5)]!, devices[draw(5)]!];
    const changes: Change[] = [...heirsOf(state, [old], old.ip).values()];
    const weight = [20, 50, 120, 200, 300, 1_000][draw(6)]!;
    if (other !== old) changes.push({ kind: 'set-weight', id: other.id, weight });
    // One replica less, or one more if a version may add so many slots.
    const replicas = state.replicas + draw(3) - 1;
    if (replicas > 0) changes.push({ kind: 'set', settings: { replicas } });
    const after = applyChanges(state, changes);
    const plan = planVersion({ head, headId: ID, state: after, direct: true });
    expect(plan.optimum, `seed ${seed}`).not.toBeNull();
  }
});

test('a disk that is replaced on a server of its own takes the fewest moves', () => {
  for (let seed = 1; seed <= 60; seed += 1) {
    const draw = drawn(seed);
    const state = someCluster(draw);
    const head = firstRing(state);
    const olds = state.devices.flatMap((device) => device ?? []).slice(0, 1);
    const heirs = heirsOf(state, olds, ELSEWHERE);
    const after = applyChanges(state, [...heirs.values()]);
    const { moves, movesLeft, optimum } = planVersion({ head, headId: ID, state: after });
    expect(moves.length + movesLeft, `seed ${seed}`).toBe(optimum?.moves);
  }
});

test('pins pass to the replacing device', () => {
  const draw = drawn(1);
  const before = applyChanges(someCluster(draw), [
    { kind: 'pin', pin: { partition: 3, on: [0], off: [1] } },
  ]);
  const olds = before.devices.flatMap((device) => device ?? []).slice(0, 1);
  const heirs = heirsOf(before, olds, ELSEWHERE);
  const after = applyChanges(before, [...heirs.values()]);
  expect(after.pins).toEqual([{ partition: 3, on: [before.devices.length], off: [1] }]);
  const head = firstRing(before);
  const plan = planVersion({ head, headId: ID, state: after, direct: true });
  expect(plan.target.some((row) => row[3] === before.devices.length)).toBe(true);
});
