// Attack: changes in many versions. No device may hold more in between than before or after.
import { type Random, seededRandom } from '@ringwright/base/random';
import type { LiftedDevice } from '@ringwright/builder/plan/lift-findings';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import type { LaterWaves, Plan, PlannedMove } from '@ringwright/builder/plan/plan';
import { slotsPerDevice } from '@ringwright/builder/plan/plan-devices';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { revertPlan } from '@ringwright/builder/plan/revert-plan';
import { roomFor, steadyMoves, steadyWaves } from '@ringwright/builder/plan/steady-moves';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { nextRolloutStep } from '../../tools/ring-builder/commands/apply/rollout-step.ts';
import { type FlowArc, minCostFlow } from '../support/min-cost-flow.ts';
import { holders, randomCluster, startingRing } from '../support/small-cluster.ts';

const ID = 'b'.repeat(64);
const INSTANCES = Number(process.env['INSTANCES'] ?? 150);

type Kind = 'weights' | 'removed' | 'growth';

test.each<Kind>(['weights', 'removed', 'growth'])('%s: only urgent moves lift a device', (kind) => {
  let several = 0;
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const drawn = drawChange(kind, seed);
    if (drawn === null) continue;
    const { head, state, plan } = drawn;
    const waves = [plan.moves, ...plan.later];
    const lifted = liftedBy(head, waves);
    const told = plan.warnings.find(({ code }) => code === 'DEVICES_LIFTED');
    expect(told?.details?.['devices'] ?? [], `seed ${seed}`).toEqual(lifted);
    const isUrgent = ({ from }: PlannedMove): boolean =>
      from === null || state.devices[from]?.state === 'removed';
    const { lifts, least } = urgentLifts(waves, isUrgent);
    if (kind === 'weights') expect(lifted, `seed ${seed}`).toEqual([]);
    if (kind === 'removed') expect(lifts, `seed ${seed}`).toBe(least);
    if (lifts === 0) expect(lifted, `seed ${seed}`).toEqual([]);
    several += waves.length > 1 ? 1 : 0;
  }
  expect(several).toBeGreaterThan(INSTANCES / 4);
});

test('the steps of a rollout that copies few moves at once lift no device', () => {
  for (let seed = 1; seed <= INSTANCES / 2; seed += 1) {
    const drawn = drawChange('weights', seed);
    if (drawn === null) continue;
    const { head, plan } = drawn;
    const steps: PlannedMove[][] = [];
    let moves = plan.moves.map((move, assignment) => ({ ...move, assignment }));
    while (moves.length > 0) {
      const proposed = moves.map((move) => ({ ...move, state: 'PROPOSED' as const }));
      const limits = { moves: 1 + (seed % 9), bytes: Number.POSITIVE_INFINITY, bytesOf: () => 0 };
      const step = nextRolloutStep({ moves: proposed }, limits);
      if (step.kind === 'drain') throw new Error('moves are left');
      const done = new Set(step.moves.map(({ assignment }) => assignment));
      steps.push(moves.filter(({ assignment }) => done.has(assignment)));
      moves = moves.filter(({ assignment }) => !done.has(assignment));
    }
    expect(liftedBy(head, steps), `seed ${seed}`).toEqual([]);
  }
});

test('the waves of a revert lift no device', () => {
  for (let seed = 1; seed <= INSTANCES / 2; seed += 1) {
    const drawn = drawChange('weights', seed);
    if (drawn === null) continue;
    const { state, head: old } = drawn;
    let head = old;
    for (let left = true; left; ) {
      const from = { head, headId: ID, state, direct: true };
      const plan = planVersion(from);
      head = nextRing(plan, from);
      left = plan.movesLeft > 0;
    }
    const plan = revertPlan({ head, headId: ID, state, old });
    expect(liftedBy(head, [plan.moves, ...plan.later]), `seed ${seed}`).toEqual([]);
    // The same if no server has the ring, because servers of Swift may have it.
    const direct = revertPlan({ head, headId: ID, state, old, direct: true });
    const waves = ({ moves, later }: Plan) => [moves, ...later];
    expect(waves(direct), `seed ${seed}`).toEqual(waves(plan));
    for (const wave of waves(direct)) {
      const partitions = new Set(wave.map(({ partition }) => partition));
      expect(partitions.size, `seed ${seed}: one slot of a partition`).toBe(wave.length);
    }
  }
  // d3 gets partition 0 and gives up partition 1, which first goes from d1 to d2.
  const early = [slotMove(0, 0, [0, 3]), slotMove(1, 0, [1, 2])];
  const late = [slotMove(1, 1, [3, 4])];
  expect(steadyWaves([early, late])).toEqual([[early[1]], [early[0], late[0]]]);
});

test('moves are chosen whenever possible, and none of them lifts a device', () => {
  const seen = { all: 0, some: 0, none: 0 };
  for (let seed = 1; seed <= 20 * INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const devices = 2 + random.below(4);
    const moves = Array.from({ length: 1 + random.below(8) }, (_, partition) => {
      const from = random.below(devices);
      return { partition, replica: 0, from, to: (from + 1 + random.below(devices - 1)) % devices };
    });
    const room = Int32Array.from({ length: devices }, () => Math.max(0, random.below(5) - 3));
    const chosen = steadyMoves(moves, { room, most: Infinity, isUrgent: () => false });
    expect(lifts(chosen, room), `seed ${seed}`).toBe(false);
    const any = subsets(moves).some((some) => some.length > 0 && !lifts(some, room));
    expect(chosen.length > 0, `seed ${seed}`).toBe(any);
    seen[chosen.length === moves.length ? 'all' : any ? 'some' : 'none'] += 1;
    const most = devices + random.below(3);
    const capped = steadyMoves(moves, { room, most, isUrgent: () => false });
    expect(capped.length, `seed ${seed}`).toBeLessThanOrEqual(most);
    expect(lifts(capped, room), `seed ${seed}`).toBe(false);
    expect(capped.length > 0, `seed ${seed}`).toBe(any);
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(INSTANCES);
});

function slotMove(partition: number, replica: number, [from, to]: [number, number]): PlannedMove {
  return { partition, replica, from, to };
}

interface DrawnChange {
  readonly head: Ring;
  readonly state: BuilderState;
  readonly plan: Plan;
}

/** Redraws half of the weights, adds devices, and removes two devices or adds one replica. */
function drawChange(kind: Kind, seed: number): DrawnChange | null {
  const random = seededRandom(seed);
  const partitions = 64 + random.below(200);
  const partitioner = { kind: 'murmur3-mod', partitions, seed: 0 } as const;
  const first = { ...randomCluster(random), partitioner };
  const head = startingRing(first, random);
  const state = changed(first, { kind, random });
  if (holders(state) < Math.ceil(state.replicas)) return null;
  return { head, state, plan: planVersion({ head, headId: ID, state }) };
}

function changed(
  first: BuilderState,
  { kind, random }: { readonly kind: Kind; readonly random: Random },
): BuilderState {
  const known = [...first.devices.keys()];
  const changes: Change[] = known
    .filter(() => random.below(2) === 0)
    .map((id) => {
      return { kind: 'set-weight', id, weight: random.below(3) === 0 ? 0 : 1 + random.below(9) };
    });
  for (let i = random.below(4); i > 0; i -= 1) {
    const id = known.length + changes.filter(({ kind: one }) => one === 'add').length;
    const place = { region: random.below(2), zone: random.below(4), ip: `10.9.9.${i % 3}` };
    const device = { id, ...place, port: 6200, device: `x${i}`, weight: 1 + random.below(9) };
    changes.push({ kind: 'add', device: { ...device, meta: '' } });
  }
  if (kind === 'growth') {
    changes.push({ kind: 'set', settings: { replicas: first.replicas + 1 } });
  }
  if (kind === 'removed') {
    for (const id of new Set([random.below(known.length), random.below(known.length)]))
      changes.push({ kind: 'remove', id });
  }
  return applyChanges(first, changes);
}

/**
 * Computed from the definition: loads after each wave, against those before and after all waves.
 */
function liftedBy(head: Ring, waves: LaterWaves): LiftedDevice[] {
  const size = 1 + Math.max(head.devices.length, ...waves.flat().map(({ to }) => to));
  const before = slotsPerDevice(head.table, size);
  const loads = [before];
  for (const moves of waves) {
    const next = loads.at(-1)!.slice();
    for (const { from, to } of moves) {
      next[to]! += 1;
      if (from !== null) next[from]! -= 1;
    }
    loads.push(next);
  }
  const after = loads.at(-1)!;
  return [...before.keys()]
    .map((id) => {
      const most = Math.max(...loads.map((one) => one[id]!));
      return { id, before: before[id]!, most, after: after[id]! };
    })
    .filter((one) => one.most > Math.max(one.before, one.after))
    .sort((a, b) => liftOf(b) - liftOf(a) || a.id - b.id);
}

function liftOf({ before, most, after }: LiftedDevice): number {
  return most - Math.max(before, after);
}

/** Returns the urgent slots beyond the total gain of their devices: as planned, and the minimum. */
function urgentLifts(
  waves: LaterWaves,
  isUrgent: (move: PlannedMove) => boolean,
): { lifts: number; least: number } {
  const room = roomFor(waves);
  const urgent = (waves[0] ?? []).filter(isUrgent);
  const partitions = new Set(urgent.map(({ partition }) => partition));
  const arcs: FlowArc[] = [...room.entries()].flatMap(([id, slots]) => [
    { from: `device ${id}`, to: 'sink', low: 0, high: slots, cost: 0 },
    { from: `device ${id}`, to: 'sink', low: 0, high: urgent.length, cost: 1 },
  ]);
  for (const partition of partitions) {
    const count = urgent.filter((move) => move.partition === partition).length;
    arcs.push({ from: 'source', to: `${partition}`, low: count, high: count, cost: 0 });
    for (const move of waves.flat()) {
      if (move.partition !== partition) continue;
      arcs.push({ from: `${partition}`, to: `device ${move.to}`, low: 0, high: 1, cost: 0 });
    }
  }
  const gains = new Int32Array(room.length);
  for (const { to } of urgent) gains[to]! += 1;
  const lifts = gains.reduce((sum, gain, id) => sum + Math.max(0, gain - room[id]!), 0);
  return { lifts, least: urgent.length === 0 ? 0 : minCostFlow(arcs, urgent.length)! };
}

function lifts(moves: readonly PlannedMove[], room: Int32Array): boolean {
  const gains = new Int32Array(room.length);
  for (const { from, to } of moves) {
    gains[to]! += 1;
    if (from !== null) gains[from]! -= 1;
  }
  return gains.some((gain, id) => gain > room[id]!);
}

function subsets<Item>(items: readonly Item[]): Item[][] {
  return items.reduce<Item[][]>(
    (all, item) => [...all, ...all.map((some) => [...some, item])],
    [[]],
  );
}
