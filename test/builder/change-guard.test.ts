// The change guard and the planner: ordinary steps of small clusters pass, mistakes do not.
import { guardMovedShareMax } from '@ringwright/base/limits';
import { type Random, seededRandom } from '@ringwright/base/random';
import { nextRing } from '@ringwright/builder/plan/next-ring';
import { planVersion } from '@ringwright/builder/plan/plan-version';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { changeSize, whyLarge } from '@ringwright/ring/audit/large-change';
import { encodeRing } from '@ringwright/ring/file/ring-file';
import type { Ring } from '@ringwright/ring/ring';
import { expect, test } from 'vitest';

const seed = Number(process.env['SEED'] ?? 20261121);
const clusters = Number(process.env['CLUSTERS'] ?? 60);

function device(id: number, zone: number, weight = 100): BuilderDevice {
  const place = { region: 1, zone, ip: `10.0.${zone}.${id}`, port: 6200, device: 'sdb' };
  return { id, ...place, weight, meta: '', state: 'active' };
}

/** Four to nine servers in one to five zones, 16 to 256 partitions, two or three replicas. */
function cluster(random: Random): { readonly state: BuilderState; readonly zones: number } {
  const zones = 1 + random.below(5);
  const power = 4 + random.below(5);
  const devices = Array.from({ length: 4 + random.below(6) }, (_, id) => device(id, id % zones));
  const partitioner = { kind: 'md5-shift', power, prefix: '', suffix: '' } as const;
  const replicas = random.below(4) === 0 ? 2 : 3;
  const settings = { ring: 'a', cluster: 'c', minPartHours: 0, overload: 0 };
  return { state: { ...settings, partitioner, replicas, devices }, zones };
}

const never = { versionHours: new Map(), nowHours: 0 };

function firstOf(state: BuilderState): Ring {
  const plan = planVersion({ head: null, headId: null, state, ...never });
  return nextRing(plan, { head: null, headId: null, state, direct: true });
}

function verdict(head: Ring, state: BuilderState): string | null {
  const from = { head, headId: encodeRing(head).id, state };
  const next = nextRing(planVersion({ ...from, ...never }), { ...from, direct: false });
  const gone = state.devices.flatMap((one) => (one?.state === 'removed' ? [one.id] : []));
  return whyLarge(changeSize(head, next, new Set(gone)), guardMovedShareMax);
}

type Change = (devices: readonly BuilderDevice[], zones: number) => BuilderDevice[];

const edit =
  (count: number, fields: Partial<BuilderDevice>): Change =>
  (devices) =>
    devices.map((one) => (one.id < count ? { ...one, ...fields } : one));
const join =
  (weight: number, count = 1): Change =>
  (devices, zones) => [
    ...devices,
    ...Array.from({ length: count }, (_, index) =>
      device(devices.length + index, (zones + index) % 6, weight),
    ),
  ];

const ordinary: readonly (readonly [string, Change])[] = [
  ['a server joins', join(100)],
  ['a server joins with half the weight', join(50)],
  ['a server is drained', edit(1, { weight: 0 })],
  ['a server is removed', edit(1, { state: 'removed' })],
  [
    'a server is replaced',
    (devices, zones) => join(100)(edit(1, { state: 'removed' })(devices, zones), zones),
  ],
];

const mistakes: readonly (readonly [string, Change])[] = [
  ['weight 100 becomes 10000', edit(1, { weight: 10_000 })],
  ['a server joins with weight 10000', join(10_000)],
  ['two servers join at once', join(100, 2)],
  ['the cluster doubles', (devices, zones) => join(100, devices.length)(devices, zones)],
  ['two servers are removed at once', edit(2, { state: 'removed' })],
];

test.for(ordinary)(`the change guard lets pass: %s (SEED=${seed})`, ([, change]) => {
  const random = seededRandom(seed);
  for (let round = 0; round < clusters; round += 1) {
    const { state, zones } = cluster(random);
    const devices = change(
      state.devices.filter((one) => one !== null),
      zones,
    );
    expect(verdict(firstOf(state), { ...state, devices }), `SEED=${seed} ${round}`).toBe(null);
  }
});

test.for(mistakes)(`the change guard blocks: %s (SEED=${seed})`, ([, change]) => {
  const random = seededRandom(seed);
  for (let round = 0; round < clusters; round += 1) {
    const { state, zones } = cluster(random);
    const devices = change(
      state.devices.filter((one) => one !== null),
      zones,
    );
    if (devices.filter((one) => one.state === 'active').length <= state.replicas) continue;
    const found = verdict(firstOf(state), { ...state, devices });
    expect(found, `SEED=${seed} ${round}`).not.toBe(null);
  }
});

test('the change guard blocks another zone for one device, which moves slots of others', () => {
  const state = cluster(seededRandom(1)).state;
  const devices = Array.from({ length: 12 }, (_, id) => device(id, id % 4));
  const partitioner = { kind: 'md5-shift', power: 8, prefix: '', suffix: '' } as const;
  const before = { ...state, devices, partitioner, replicas: 3 };
  const moved = devices.map((one) => (one.id === 0 ? { ...one, zone: 1 } : one));
  expect(verdict(firstOf(before), { ...before, devices: moved })).not.toBe(null);
});
