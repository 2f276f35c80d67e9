// Attack: random changes are carried out wave by wave, with moves cancelled at any point. Only
// planned moves may happen, and all of them except the cancelled ones.
import { type Random, seededRandom } from '@ringwright/base/random';
import { moveCount, nextWave, withoutPartitions } from '@ringwright/builder/plan/later-waves';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import type { LaterWaves, PlannedMove } from '@ringwright/builder/plan/plan';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { revertPlan } from '@ringwright/builder/plan/revert-plan';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import {
  cancelMoves,
  finalizeMoves,
  initializeMoves,
  proposeMoves,
} from '@ringwright/ring/advance-ring';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { auditTransition } from '@ringwright/ring/audit/audit-transition';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { holders, randomChanges, randomCluster, startingRing } from '../support/small-cluster.ts';

const ID = 'd'.repeat(64);
const INSTANCES = 400;
const seed = Number(process.env['SEED'] ?? 20261122);

const nameOf = ({ partition, replica, from, to }: PlannedMove): string =>
  `${partition}/${replica} d${from} d${to}`;

/** A simulated rollout. */
interface Run {
  readonly state: BuilderState;
  ring: Ring;
  later: LaterWaves;
  readonly moved: string[];
  readonly cancelled: Set<number>;
}

function take(run: Run, next: Ring, label: string): void {
  expect(auditRing(next), label).toEqual([]);
  const transition = { previous: run.ring, previousId: ID, next };
  expect(auditTransition(transition), label).toEqual([]);
  run.ring = next;
}

/** Cancels some moves in flight and some later ones. Does nothing while slots are being added. */
function cancelSome(run: Run, random: Random, label: string): void {
  const { moves } = run.ring;
  if (moves.some(({ from }) => from === null)) return;
  const known = [...moves, ...run.later.flat()].map(({ partition }) => partition);
  const named = new Set(known.filter(() => random.below(4) === 0));
  if (named.size === 0) return;
  const gone = moves.filter(({ partition }) => named.has(partition));
  const which = new Set(gone.map(({ assignment }) => assignment));
  take(run, cancelMoves(run.ring, ID, which), label);
  run.later = withoutPartitions(run.later, named);
  for (const partition of named) run.cancelled.add(partition);
}

function carryOut(run: Run, random: Random, label: string): void {
  const { state } = run;
  for (let wave = 0; ; wave += 1) {
    expect(wave, label).toBeLessThan(20);
    cancelSome(run, random, label);
    take(run, initializeMoves(run.ring, ID), label);
    cancelSome(run, random, label);
    run.moved.push(...run.ring.moves.map(nameOf));
    take(run, finalizeMoves(run.ring, ID), label);
    cancelSome(run, random, label);
    const next = nextWave(run.later, { head: run.ring, state, times: {} });
    run.later = next.later;
    if (next.moves.length === 0) return;
    const partitions = next.moves.map(({ partition }) => partition);
    const removed = next.moves.some(({ from }) => state.devices[from ?? -1]?.state === 'removed');
    if (!removed) expect(new Set(partitions).size, label).toBe(partitions.length);
    take(run, proposeMoves(run.ring, ID, { moves: next.moves }), label);
  }
}

test(`${INSTANCES} random changes move exactly the plan without the cancelled moves`, () => {
  let waves = 0;
  let cancels = 0;
  for (let at = 0; at < INSTANCES; at += 1) {
    const label = `SEED=${seed}, instance ${at}`;
    const random = seededRandom(seed + at);
    const first = randomCluster(random);
    const head = startingRing(first, random);
    const state = randomChanges(first, random);
    if (holders(state) < Math.ceil(state.replicas)) continue;
    if (Math.abs(state.replicas - head.replicas) > 1) continue;
    const from = { head, headId: ID, state, direct: false };
    const plan = planVersion(from);
    expect(plan.movesLeft, label).toBe(moveCount(plan.later));
    const shown = [plan.moves, ...plan.later].flat();
    const moved: string[] = [];
    const run: Run = {
      state,
      ring: nextRing(plan, from),
      later: plan.later,
      moved,
      cancelled: new Set(),
    };
    const isCalm = at % 4 === 0;
    carryOut(run, isCalm ? { ...random, below: () => 1 } : random, label);
    const expected = shown.filter(({ partition }) => !run.cancelled.has(partition)).map(nameOf);
    const planned = new Set(shown.map(nameOf));
    expect(
      moved.filter((one) => !planned.has(one)),
      label,
    ).toEqual([]);
    expect(
      expected.filter((one) => !moved.includes(one)),
      label,
    ).toEqual([]);
    if (isCalm) {
      expect(moved.toSorted(), label).toEqual(shown.map(nameOf).toSorted());
      expect(planVersion({ ...from, head: run.ring }).moves, label).toEqual([]);
    }
    waves += plan.later.length;
    cancels += run.cancelled.size;
  }
  expect(waves).toBeGreaterThan(INSTANCES / 10);
  expect(cancels).toBeGreaterThan(INSTANCES / 2);
});

/** Removes one device, or lowers its weight. */
function lessOf(state: BuilderState, random: Random): BuilderState {
  const active = state.devices.filter((device) => device?.state === 'active');
  const id = active[random.below(active.length)]!.id;
  const change = { kind: 'set-weight', id, weight: random.below(2) } as const;
  return applyChanges(state, [random.below(2) === 0 ? change : { kind: 'remove', id }]);
}

test('a second change during a running one ends where a single change would', () => {
  let seconds = 0;
  for (let at = 0; at < INSTANCES; at += 1) {
    const label = `SEED=${seed}, instance ${at}`;
    const random = seededRandom(seed + at);
    const first = randomCluster(random);
    const head = startingRing(first, random);
    const joined = randomChanges(first, random);
    const state = lessOf(joined, random);
    if (Math.min(holders(joined), holders(state)) < Math.ceil(state.replicas)) continue;
    if (joined.replicas !== first.replicas || state.replicas !== first.replicas) continue;
    const from = { head, headId: ID, state: joined, direct: false };
    const running = nextRing(planVersion(from), from);
    if (running.moves.some(({ to }) => state.devices[to]?.state !== 'active')) continue;
    const plan = planVersion({ head: running, headId: ID, state });
    const ring = nextRing(plan, { head: running, headId: ID, state, direct: false });
    const run: Run = { state, ring, later: plan.later, moved: [], cancelled: new Set() };
    carryOut(run, { ...random, below: () => 1 }, label);
    const shown = [running.moves, plan.moves, ...plan.later].flat().map(nameOf);
    expect(run.moved.toSorted(), label).toEqual(shown.toSorted());
    expect(planVersion({ head: run.ring, headId: ID, state }).moves, label).toEqual([]);
    seconds += running.moves.length > 0 && plan.later.length > 0 ? 1 : 0;
  }
  expect(seconds).toBeGreaterThan(10);
});

test('a revert moves exactly its plan without the cancelled moves', () => {
  for (let at = 0; at < INSTANCES; at += 1) {
    const label = `SEED=${seed}, instance ${at}`;
    const random = seededRandom(seed + at);
    const first = randomCluster(random);
    const old = startingRing(first, random);
    const state = randomChanges(first, random);
    if (holders(state) < Math.ceil(state.replicas) || state.replicas !== first.replicas) continue;
    const from = { head: old, headId: ID, state, direct: true };
    const head = nextRing(planVersion(from), from);
    const plan = revertPlan({ head, headId: ID, state, old });
    const shown = [plan.moves, ...plan.later].flat().map(nameOf);
    const ring = nextRing(plan, { head, headId: ID, state, direct: false });
    const run: Run = { state, ring, later: plan.later, moved: [], cancelled: new Set() };
    carryOut(run, random, label);
    const gone = [...run.cancelled].map((partition) => `${partition}/`);
    const expected = shown.filter((one) => !gone.some((start) => one.startsWith(start)));
    expect(
      run.moved.filter((one) => !shown.includes(one)),
      label,
    ).toEqual([]);
    expect(
      expected.filter((one) => !run.moved.includes(one)),
      label,
    ).toEqual([]);
  }
});

test('moves of partitions that must rest wait, and are then the planned ones', () => {
  let waited = 0;
  for (let at = 0; at < INSTANCES; at += 1) {
    const label = `SEED=${seed}, instance ${at}`;
    const random = seededRandom(seed + at);
    const first = { ...randomCluster(random), minPartHours: 24 };
    const head = startingRing(first, random);
    const state = randomChanges(first, random);
    if (holders(state) < Math.ceil(state.replicas) || state.replicas !== first.replicas) continue;
    const from = { head, headId: ID, state, direct: false };
    const plan = planVersion(from);
    const made = nextRing(plan, from);
    const ring = finalizeMoves(initializeMoves(made, ID), ID);
    const versionHours = new Map([
      [1, 0],
      [2, 100],
      [3, 100],
      [4, 100],
    ]);
    const rests = (nowHours: number): readonly PlannedMove[] =>
      nextWave(plan.later, { head: ring, state, times: { versionHours, nowHours } }).moves;
    const young = rests(110).filter(({ partition }) => (ring.minVersions[partition] ?? 0) > 1);
    const urgent = young.filter(({ from: id }) => state.devices[id ?? -1]?.state === 'removed');
    expect(young, label).toEqual(urgent);
    expect(rests(130), label).toEqual(plan.later[0] ?? []);
    waited += (plan.later[0]?.length ?? 0) - rests(110).length;
  }
  expect(waited).toBeGreaterThan(50);
});
