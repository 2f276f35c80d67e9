// Attack: what a plan refuses, freezes and limits, and that equal input gives an equal plan.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { finalizeMoves, initializeMoves } from '@ringwright/ring/advance-ring';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import { auditTransition } from '@ringwright/ring/audit/audit-transition';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';
import { refusal } from '../../../../test/support/refusal.ts';
import { applyChanges } from '../state/apply-changes.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { Change } from '../state/change.ts';
import { createState } from '../state/create-state.ts';
import { nextRing } from './next-ring.ts';
import { planVersion } from './plan-version.ts';
import { capMoves } from './steady-moves.ts';

const ID = 'b'.repeat(64);

interface Shape {
  readonly zones: number;
  readonly servers: number;
  readonly disks: number;
}

function additions(from: number, shape: Shape, firstZone = 1): Change[] {
  const changes: Change[] = [];
  for (let zone = firstZone; zone < firstZone + shape.zones; zone += 1) {
    for (let server = 1; server <= shape.servers; server += 1) {
      for (let disk = 0; disk < shape.disks; disk += 1) {
        const id = from + changes.length;
        const ip = `10.0.${zone}.${server}`;
        const place = { region: 1, zone, ip, port: 6200, device: `d${disk}` };
        changes.push({ kind: 'add', device: { id, ...place, weight: 100, meta: '' } });
      }
    }
  }
  return changes;
}

function cluster(power: number, shape: Shape, fields: object = {}): BuilderState {
  const partitioner = { kind: 'md5-shift', power, prefix: '', suffix: '' } as const;
  const settings = { replicas: 3, minPartHours: 0, overload: 0, ...fields };
  const state = createState({ ring: 'test', cluster: 'test', partitioner, ...settings });
  return applyChanges(state, additions(0, shape));
}

function firstOf(state: BuilderState): Ring {
  const from = { head: null, headId: null, state, direct: false };
  return nextRing(planVersion(from), from);
}

test('a plan without changes moves nothing', () => {
  const state = cluster(8, { zones: 4, servers: 1, disks: 3 });
  const plan = planVersion({ head: firstOf(state), headId: ID, state });
  expect(plan).toMatchObject({ version: 2, moves: [], movesLeft: 0, moveLowerBound: 0 });
  expect(plan.warnings).toEqual([]);
});

test('the moves to a new device are legal, and as few as the lower bound', () => {
  const before = cluster(8, { zones: 3, servers: 2, disks: 1 });
  const head = firstOf(before);
  const state = applyChanges(before, additions(6, { zones: 1, servers: 1, disks: 1 }, 4));
  const plan = planVersion({ head, headId: ID, state });
  expect(plan.moves).toHaveLength(plan.moveLowerBound);
  expect(plan.moves.every((move) => move.to === 6)).toBe(true);
  const next = nextRing(plan, { head, headId: ID, state, direct: false });
  expect(auditRing(next)).toEqual([]);
  expect(next.moves).toHaveLength(plan.moves.length);
  expect(auditRing(initializeMoves(next, ID))).toEqual([]);
});

test('a second change during a running one moves other partitions, and both complete', () => {
  const before = cluster(8, { zones: 3, servers: 2, disks: 1 });
  const first = firstOf(before);
  const joined = applyChanges(before, additions(6, { zones: 1, servers: 1, disks: 1 }, 4));
  const from = { head: first, headId: ID, state: joined };
  const running = nextRing(planVersion(from), { ...from, direct: false });
  const moving = new Set(running.moves.map(({ partition }) => partition));

  const state = applyChanges(joined, [{ kind: 'set-weight', id: 0, weight: 0 }]);
  const second = planVersion({ head: running, headId: ID, state });
  expect(second.moves.length).toBeGreaterThan(0);
  expect(second.warnings.map(({ code }) => code)).toContain('MOVES_IN_FLIGHT');
  expect(second.warnings.map(({ code }) => code)).not.toContain('PARTITIONS_FROZEN');
  expect(second.moves.filter(({ partition }) => moving.has(partition))).toEqual([]);
  const both = nextRing(second, { head: running, headId: ID, state, direct: false });
  expect(auditRing(both)).toEqual([]);
  const transition = { previous: running, previousId: ID, next: both };
  expect(auditTransition(transition)).toEqual([]);
  expect(both.moves).toHaveLength(running.moves.length + second.moves.length);

  // Moves that had to wait come in later waves, and then nothing is left.
  let head = finalizeMoves(initializeMoves(both, ID), ID);
  for (let waves = 0; ; waves += 1) {
    expect(waves).toBeLessThan(4);
    const plan = planVersion({ head, headId: ID, state });
    if (plan.moves.length === 0) break;
    const proposed = nextRing(plan, { head, headId: ID, state, direct: false });
    head = finalizeMoves(initializeMoves(proposed, ID), ID);
  }
  expect(head.table.some((row) => row.includes(0))).toBe(false);
});

test('a second change that is in conflict with moves in flight is refused with the reason', () => {
  const before = cluster(8, { zones: 3, servers: 2, disks: 1 });
  const joined = applyChanges(before, additions(6, { zones: 1, servers: 1, disks: 1 }, 4));
  const from = { head: firstOf(before), headId: ID, state: joined };
  const running = nextRing(planVersion(from), { ...from, direct: false });
  const refusals = [
    { change: { kind: 'remove', id: 6 }, why: /is moving to d6, which is to be removed/ },
    {
      change: { kind: 'set', settings: { replicas: 2 } },
      why: /change of the replicas cannot be combined/,
    },
  ] as const;
  for (const { change, why } of refusals) {
    const state = applyChanges(joined, [change]);
    const error = refusal(() => planVersion({ head: running, headId: ID, state }));
    expect(error).toMatchObject({ code: 'MOVES_IN_FLIGHT', exit: 5 });
    expect(error.message).toMatch(why);
    expect(error.hint).toContain('ring-builder rollout test');
    const cancels = change.kind === 'remove' ? 'cancel d6 && ring-builder commit' : 'cancel all';
    expect(error.hint).toContain(`ring-builder moves test ${cancels}`);
  }
  const direct = refusal(() => planVersion({ ...from, head: running, direct: true }));
  expect(direct.message).toContain('--direct');
});

test('fewer devices with weight than replicas are refused with both numbers', () => {
  const state = applyChanges(cluster(4, { zones: 3, servers: 1, disks: 1 }), [
    { kind: 'set-weight', id: 1, weight: 0 },
  ]);
  const error = refusal(() => planVersion({ head: null, headId: null, state }));
  expect(error.code).toBe('REPLICAS_EXCEED_DEVICES');
  expect(error.message).toBe('3 replicas need 3 devices with weight, but there are 2');
  expect(error.hint).toMatch(/ring-builder add test .* ring-builder set test --replicas 2;/);
  const gone = [0, 1, 2, 3].map((id) => ({ kind: 'remove', id }) as const);
  const none = refusal(() =>
    planVersion({ head: null, headId: null, state: applyChanges(state, gone) }),
  );
  expect(none.hint).not.toContain('--replicas');
});

test('two slots of a partition on removed devices move at once, with a warning', () => {
  const before = cluster(6, { zones: 1, servers: 2, disks: 3 });
  const head = firstOf(before);
  const state = applyChanges(before, [
    { kind: 'remove', id: 0 },
    { kind: 'remove', id: 1 },
    ...additions(6, { zones: 1, servers: 1, disks: 1 }, 7),
  ]);
  const plan = planVersion({ head, headId: ID, state });
  expect(plan.partitionsMovingTwice).toBeGreaterThan(0);
  expect(plan.warnings.map(({ code }) => code)).toContain('PARTITIONS_MOVE_TWICE');
  for (const row of plan.target) for (const id of row) expect(id).toBeGreaterThan(1);
});

test('drained devices move at most one slot of a partition per version', () => {
  const before = cluster(6, { zones: 1, servers: 2, disks: 4 });
  const head = firstOf(before);
  const drained = [0, 1, 2, 3].map((id): Change => ({ kind: 'set-weight', id, weight: 0 }));
  const state = applyChanges(before, drained);
  const plan = planVersion({ head, headId: ID, state });
  expect(plan.partitionsMovingTwice).toBe(0);
  expect(plan.movesLeft).toBeGreaterThan(0);
  expect(plan.warnings.map(({ code }) => code)).toContain('MOVES_LEFT');
});

test('frozen partitions stay in place, except for slots of removed devices', () => {
  const before = cluster(8, { zones: 3, servers: 2, disks: 2 }, { minPartHours: 24 });
  const head = firstOf(before);
  const times = { versionHours: new Map([[1, 1_000]]), nowHours: 1_023 };
  const grown = applyChanges(before, additions(12, { zones: 1, servers: 1, disks: 1 }, 9));
  const blocked = planVersion({ head, headId: ID, state: grown, ...times });
  expect(blocked.moves).toEqual([]);
  expect(blocked.warnings.map(({ code }) => code)).toContain('PARTITIONS_FROZEN');
  const late = { ...times, nowHours: 1_024 };
  expect(planVersion({ head, headId: ID, state: grown, ...late }).moves).toHaveLength(
    blocked.moveLowerBound,
  );
  const state = applyChanges(grown, [{ kind: 'remove', id: 3 }]);
  const plan = planVersion({ head, headId: ID, state, ...times });
  const lost = head.table.flatMap((row) => [...row]).filter((id) => id === 3).length;
  expect(plan.moves).toHaveLength(lost);
  expect(plan.moves.every(({ from }) => from === 3)).toBe(true);
  const next = nextRing(plan, { head, headId: ID, state, direct: true });
  expect(auditRing(next)).toEqual([]);
});

test('the warning about unreachable dispersion names the overload that permits it', () => {
  const before = cluster(8, { zones: 3, servers: 1, disks: 1 }, { replicas: 3 });
  const grown = applyChanges(before, [
    ...additions(3, { zones: 1, servers: 2, disks: 1 }, 4),
    { kind: 'set-weight', id: 3, weight: 150 },
    { kind: 'set-weight', id: 4, weight: 150 },
    { kind: 'set-weight', id: 0, weight: 90 },
  ]);
  const plan = planVersion({ head: null, headId: null, state: grown });
  const warning = plan.warnings.find(({ code }) => code === 'DISPERSION_UNREACHABLE');
  expect(warning?.message).toMatch(/^zone r1z\d+ wants \d\.\d{3} replicas of each partition/);
  const overload = warning?.details?.['requiredOverload'] as number;
  expect(overload).toBeGreaterThan(0);
  const mended = applyChanges(grown, [{ kind: 'set', settings: { overload } }]);
  expect(planVersion({ head: null, headId: null, state: mended }).warnings).toEqual([]);
});

test('the limit of moves keeps urgent ones and takes the others evenly from the ring', () => {
  const moves = Array.from({ length: 100 }, (_, partition) => {
    return { partition, replica: 0, from: partition % 2, to: 5 };
  });
  const capped = capMoves(moves, 60, ({ from }) => from === 1);
  expect(capped).toHaveLength(60);
  expect(capped.filter(({ from }) => from === 1)).toHaveLength(50);
  expect(capped.filter(({ partition }) => partition < 50)).toHaveLength(30);
});

test('a split with too many moves for one version needs --direct', () => {
  const before = cluster(15, { zones: 3, servers: 1, disks: 1 });
  const head = firstOf(before);
  const state = applyChanges(before, [{ kind: 'set', settings: { partitionPower: 16 } }]);
  const from = { head, headId: ID, state };
  const { code, details } = refusal(() => planVersion({ ...from, direct: false }));
  expect({ code, details }).toMatchObject({ code: 'RESHAPE_UNFIT', details: { slots: 196_608 } });
  const direct = { ...from, direct: true };
  const next = nextRing(planVersion(direct), direct);
  expect(auditRing(next)).toEqual([]);
});

const digestProgram = `
const { planVersion } = await import('@ringwright/builder/plan/plan-version');
const { parseState } = await import('@ringwright/builder/state/state-json');
const { createHash } = await import('node:crypto');
const state = parseState(Buffer.from(process.argv[1], 'base64'));
const plan = planVersion({ head: null, headId: null, state });
const hash = createHash('sha256');
for (const row of plan.target) hash.update(new Uint8Array(row.buffer));
console.log(plan.digest + hash.digest('hex'));
`;

test('equal input gives equal bytes, also in another process', async () => {
  const { serializeState } = await import('../state/state-json.ts');
  const state = cluster(10, { zones: 4, servers: 2, disks: 3 }, { replicas: 2.5 });
  const digestOf = (): string => {
    const plan = planVersion({ head: null, headId: null, state });
    const hash = createHash('sha256');
    for (const row of plan.target) hash.update(new Uint8Array(row.buffer));
    return plan.digest + hash.digest('hex');
  };
  const here = digestOf();
  expect(digestOf()).toBe(here);
  const argument = Buffer.from(serializeState(state)).toString('base64');
  const there = execFileSync(
    process.execPath,
    ['--input-type=module', '-e', digestProgram, argument],
    { cwd: import.meta.dirname, encoding: 'utf8' },
  );
  expect(there.trim()).toBe(here);
});

/** Creates a cluster with a zone whose large device takes its whole share. The small one gets none. */
function shadowed(pinned: readonly number[]): BuilderState {
  const state = cluster(5, { zones: 3, servers: 2, disks: 1 }, { overload: 0.2 });
  const place = { region: 1, zone: 4, port: 6200, device: 'd0', meta: '' };
  const small = { id: 6, ...place, ip: '10.0.4.1', weight: 100 };
  const large = { id: 7, ...place, ip: '10.0.4.2', weight: 4e12 };
  const pin = (partition: number): Change => {
    return { kind: 'pin', pin: { partition, on: [6], off: [] } };
  };
  const added: Change[] = [small, large].map((device) => ({ kind: 'add', device }));
  return applyChanges(state, [...added, ...pinned.map(pin)]);
}

test('a pin on a device that has no share is kept', () => {
  const free = shadowed([]);
  const head = firstOf(free);
  expect(planVersion({ head, headId: ID, state: free }).devices[6]).toMatchObject({ share: 0 });
  for (const pinned of [[3], [3, 4, 5]]) {
    const state = shadowed(pinned);
    const plan = planVersion({ head, headId: ID, state, direct: true });
    expect(plan.devices[6]).toMatchObject({ after: pinned.length });
    const ring = nextRing(plan, { head, headId: ID, state, direct: true });
    expect(auditRing(ring)).toEqual([]);
    for (const partition of pinned) {
      expect(ring.table.map((row) => row[partition])).toContain(6);
    }
  }
});

test('a partition whose pin leaves no other device is placed on one that has no share', () => {
  const free = shadowed([]);
  const head = firstOf(free);
  const pin = { partition: 3, on: [], off: [0, 1, 2, 3, 4] };
  const state = applyChanges(free, [{ kind: 'pin', pin }]);
  const from = { head, headId: ID, state, direct: true };
  const ring = nextRing(planVersion(from), from);
  expect(new Set(ring.table.map((row) => row[3]))).toEqual(new Set([5, 6, 7]));
});
