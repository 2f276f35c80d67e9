// Attack: zones as a hard rule, pins, held devices and ramps on random small clusters.
import { type Random, seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import { applyChanges } from '@ringwright/builder/state/apply-changes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Change } from '@ringwright/builder/state/change';
import { createState } from '@ringwright/builder/state/create-state';
import { parseState, serializeState } from '@ringwright/builder/state/state-json';
import { stepRamps } from '@ringwright/builder/state/step-ramps';
import { auditRing } from '@ringwright/ring/audit/audit-ring';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';

const ID = 'd'.repeat(64);
const INSTANCES = 150;

function cluster(random: Random, zones: readonly number[]): BuilderState {
  const partitioner = { kind: 'murmur3-mod', partitions: 16 + random.below(17), seed: 0 } as const;
  const replicas = [2, 3, 2.5][random.below(3)]!;
  const settings = { ring: 'rules', cluster: 'test', replicas, minPartHours: 0, overload: 0 };
  const changes = zones.flatMap((count, zone) =>
    Array.from({ length: count }, (_, i) => ({ zone, ip: `10.0.${zone}.${i % 2}`, i })),
  );
  return applyChanges(
    createState({ ...settings, partitioner }),
    changes.map(({ zone, ip, i }, id): Change => {
      const weight = 1 + random.below(zone === 0 ? 40 : 5);
      const place = { region: 1, zone, ip, port: 6200, device: `d${i}` };
      return { kind: 'add', device: { id, ...place, weight, meta: '' } };
    }),
  );
}

/** Carries out all waves. */
function reach(head: Ring | null, state: BuilderState): Ring {
  let ring = head;
  for (let wave = 0; ; wave += 1) {
    const from = { head: ring, headId: ring === null ? null : ID, state, direct: true };
    const plan = planVersion(from);
    ring = nextRing(plan, from);
    expect(auditRing(ring)).toEqual([]);
    if (plan.movesLeft === 0) return ring;
    expect(wave).toBeLessThan(9);
  }
}

function holdersOf({ table }: Ring, partition: number): number[] {
  return table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
}

function loadOf({ table }: Ring, id: number): number {
  return table.reduce((sum, row) => sum + row.filter((one) => one === id).length, 0);
}

test('every partition is in as many zones as required, even if one zone outweighs the rest', () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const plain = cluster(random, [4, 3, 2 + random.below(3)]);
    const zonesMin = 1 + random.below(Math.floor(plain.replicas));
    const state = applyChanges(plain, [{ kind: 'set', settings: { zonesMin } }]);
    const ring = reach(reach(null, plain), state);
    for (let partition = 0; partition < ring.partitions; partition += 1) {
      const zones = new Set(holdersOf(ring, partition).map((id) => state.devices[id]!.zone));
      expect(zones.size, `seed ${seed}, partition ${partition}`).toBeGreaterThanOrEqual(zonesMin);
    }
  }
});

test('as many zones as exist and replicas permit are never refused, and always kept', () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const zones = 2 + random.below(4);
    const sizes = Array.from({ length: zones }, () => 1 + random.below(4));
    const devices = sizes.reduce((sum, size) => sum + size, 0);
    const replicas = Math.min(devices, [2, 3, 4, 4.5, 5][random.below(5)]!);
    const zonesMin = Math.min(zones, Math.floor(replicas));
    const overload = random.below(2) / 2;
    const settings = { replicas, zonesMin, overload };
    const state = applyChanges(cluster(random, sizes), [{ kind: 'set', settings }]);
    const ring = reach(null, state);
    for (let partition = 0; partition < ring.partitions; partition += 1) {
      const found = new Set(holdersOf(ring, partition).map((id) => state.devices[id]!.zone));
      expect(found.size, `seed ${seed}, partition ${partition}`).toBeGreaterThanOrEqual(zonesMin);
    }
  }
});

test('a rule with more zones than exist is refused with both numbers', () => {
  const state = cluster(seededRandom(2), [4, 3]);
  const three = applyChanges(state, [{ kind: 'set', settings: { replicas: 3, zonesMin: 3 } }]);
  expect(() => planVersion({ head: null, headId: null, state: three })).toThrow(
    'every partition must be in 3 zones, but 2 have devices with weight, and only 2 can',
  );
  const five = (): unknown => applyChanges(state, [{ kind: 'set', settings: { zonesMin: 5 } }]);
  expect(five).toThrow('zones-min 5 is not between');
});

test('pins are kept, and a second plan moves nothing', () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const plain = cluster(random, [4, 3, 4]);
    const pinned = [1, 5, 9].map((partition) => {
      const first = random.below(plain.devices.length);
      const second = (first + 1 + random.below(plain.devices.length - 1)) % plain.devices.length;
      return { partition, on: [first], off: [second] };
    });
    const state = applyChanges(
      plain,
      pinned.map((pin): Change => ({ kind: 'pin', pin })),
    );
    for (const ring of [reach(null, state), reach(reach(null, plain), state)]) {
      for (const { partition, on, off } of pinned) {
        const holders = holdersOf(ring, partition);
        expect(holders, `seed ${seed}`).toEqual(expect.arrayContaining(on));
        for (const id of off) expect(holders, `seed ${seed}`).not.toContain(id);
      }
      const again = planVersion({ head: ring, headId: ID, state });
      expect(again.moves, `seed ${seed}`).toEqual([]);
    }
  }
});

test('a device in maintenance keeps its slots, and a no-target device only loses some', () => {
  for (let seed = 1; seed <= INSTANCES; seed += 1) {
    const random = seededRandom(seed);
    const plain = cluster(random, [4, 4, 4]);
    const before = reach(null, plain);
    const hold = random.below(2) === 0 ? ('maintenance' as const) : ('no-target' as const);
    const other = 1 + random.below(plain.devices.length - 1);
    const state = applyChanges(plain, [
      { kind: 'hold', id: 0, hold },
      { kind: 'set-weight', id: other, weight: random.below(3) * 10 },
    ]);
    const from = { head: before, headId: ID, state, direct: true };
    const plan = planVersion(from);
    expect(
      plan.moves.filter(({ to }) => to === 0),
      `seed ${seed}`,
    ).toEqual([]);
    const after = reach(before, state);
    const [was, is] = [loadOf(before, 0), loadOf(after, 0)];
    if (hold === 'maintenance') expect(is, `seed ${seed}`).toBe(was);
    else expect(is, `seed ${seed}`).toBeLessThanOrEqual(was);
    const free = applyChanges(plain, [
      { kind: 'hold', id: 0, hold },
      { kind: 'hold', id: 0, hold: null },
    ]);
    expect(planVersion({ ...from, state: free }).moves, `seed ${seed}`).toEqual([]);
  }
});

/** Devices with these weights, each in a server of its own. */
function weighed(weights: readonly number[], replicas: number, partitions = 1): BuilderState {
  const partitioner = { kind: 'murmur3-mod', partitions, seed: 0 } as const;
  const settings = { ring: 'rules', cluster: 'test', replicas, minPartHours: 0, overload: 0 };
  const additions = weights.map((weight, id): Change => {
    const place = { region: 1, zone: 1, ip: `10.0.1.${id}`, port: 6200, device: 'sda' };
    return { kind: 'add', device: { id, ...place, weight, meta: '' } };
  });
  return applyChanges(createState({ ...settings, partitioner }), additions);
}

test.each([
  { weights: [1, 1], loads: [1, 0] },
  { weights: [1, 1, 1], loads: [1, 0, 0] },
  { weights: [1, 1, 4e9], loads: [1, 0, 0] },
])(
  'a device of weights $weights that gets nothing leaves all slots to the others',
  ({ weights, loads }) => {
    const before = reach(null, weighed(weights.slice(0, -1), 1));
    const last = weights.length - 1;
    const state = applyChanges(weighed(weights, 1), [
      { kind: 'hold', id: last, hold: 'no-target' },
    ]);
    const after = reach(before, state);
    expect(weights.map((_, id) => loadOf(after, id))).toEqual(loads);
  },
);

test('a plan reports devices that get slots despite maintenance', () => {
  const plain = weighed([1, 1, 1, 1, 1], 3, 16);
  const head = reach(null, plain);
  const state = applyChanges(plain, [
    { kind: 'hold', id: 0, hold: 'maintenance' },
    { kind: 'hold', id: 1, hold: 'no-target' },
    { kind: 'remove', id: 2 },
  ]);
  const { moves, warnings } = planVersion({ head, headId: ID, state });
  const gained = [0, 1].map((id) => moves.filter(({ to }) => to === id).length);
  expect(gained.reduce((sum, slots) => sum + slots)).toBeGreaterThan(0);
  const finding = warnings.find(({ code }) => code === 'HOLDS_UNMET');
  const reported = [0, 1].flatMap((id) =>
    gained[id]! > 0 ? [expect.objectContaining({ id, slotsIn: gained[id] })] : [],
  );
  expect(finding?.details).toEqual({ devices: reported });
});

test('a first version without enough devices outside maintenance names the way out', () => {
  const state = applyChanges(weighed([1, 1, 1], 3), [{ kind: 'hold', id: 1, hold: 'maintenance' }]);
  expect(() => planVersion({ head: null, headId: null, state })).toThrow(
    expect.objectContaining({
      code: 'REPLICAS_EXCEED_DEVICES',
      message: '3 replicas need 3 devices, but only 2 of 3 with weight may get slots: d1 may not',
      hint: 'ring-builder maintenance rules d1 --off lets a device get slots',
    }),
  );
});

test.each([
  { target: 25, step: 10, steps: [10, 20, 25] },
  { target: 0.9, step: 0.3, steps: [0.3, 0.6, 0.9] },
])(
  'a ramp to $target takes round steps within its window, and then ends',
  ({ target, step, steps }) => {
    const plain = cluster(seededRandom(3), [3, 3, 3]);
    const ramp = { target, step, fromHour: 100, untilHour: 200 };
    const state = applyChanges(plain, [
      { kind: 'set-weight', id: 4, weight: 0 },
      { kind: 'ramp', id: 4, ramp },
    ]);
    expect(stepRamps(state, 99)).toBe(state);
    expect(stepRamps(state, 200)).toBe(state);
    const weights: number[] = [];
    let now = state;
    for (let hour = 100; hour < 103; hour += 1) {
      now = stepRamps(now, hour);
      weights.push(now.devices[4]!.weight);
    }
    expect(weights).toEqual(steps);
    expect(now.devices[4]).not.toHaveProperty('ramp');
  },
);

test('unused settings leave no trace, and used ones survive the file', () => {
  const plain = cluster(seededRandom(4), [3, 3, 3]);
  const set = applyChanges(plain, [
    { kind: 'set', settings: { zonesMin: 2, restedThrough: 7 } },
    { kind: 'hold', id: 1, hold: 'maintenance' },
    { kind: 'pin', pin: { partition: 3, on: [2], off: [] } },
    { kind: 'ramp', id: 2, ramp: { target: 9, step: 1, fromHour: 1, untilHour: 2 } },
  ]);
  expect(parseState(serializeState(set))).toEqual(set);
  const undone = applyChanges(set, [
    { kind: 'set', settings: { zonesMin: 0 } },
    { kind: 'hold', id: 1, hold: null },
    { kind: 'pin', pin: { partition: 3, on: [], off: [] } },
    { kind: 'ramp', id: 2, ramp: null },
  ]);
  const { restedThrough: _restedThrough, ...rest } = undone;
  expect(Buffer.from(serializeState(rest))).toEqual(Buffer.from(serializeState(plain)));
});

test.each<[string, Change, string]>([
  [
    'a partition that is not there',
    { kind: 'pin', pin: { partition: 99, on: [0], off: [] } },
    'does not exist',
  ],
  [
    'more devices than replicas',
    { kind: 'pin', pin: { partition: 0, on: [0, 1, 2, 3], off: [] } },
    'on 4 devices',
  ],
  [
    'one device on and off',
    { kind: 'pin', pin: { partition: 0, on: [1], off: [1] } },
    'named twice',
  ],
  ['an unknown device', { kind: 'pin', pin: { partition: 0, on: [77], off: [] } }, 'd77'],
  [
    'a ramp without end',
    { kind: 'ramp', id: 0, ramp: { target: 1, step: 1, fromHour: 5, untilHour: 5 } },
    'hours 5 to 5',
  ],
  [
    'a ramp that stands',
    { kind: 'ramp', id: 0, ramp: { target: 1, step: 0, fromHour: 1, untilHour: 5 } },
    'step 0',
  ],
])('refuses %s', (_what, change, words) => {
  const state = cluster(seededRandom(1), [3, 3, 3]);
  expect(() => applyChanges(state, [change])).toThrow(words);
});
