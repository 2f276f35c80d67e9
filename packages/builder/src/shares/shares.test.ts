// Attack: checks shares of random trees against their definitions: sums, caps, overload, quotas.
import { type Random, seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { computeQuotas } from '../placement/quotas.ts';
import { computeTargets } from '../placement/targets.ts';
import type { BuilderDevice } from '../state/builder-state.ts';
import { buildTree, sumUp, type TierTree } from '../state/tier-tree.ts';
import { requiredOverload } from './required-overload.ts';
import { computeShares } from './shares.ts';

const SEEDS = 300;

function randomTree(random: Random, least: number): TierTree {
  const devices: BuilderDevice[] = [];
  for (let id = 0; id < least + random.below(12); id += 1) {
    const [region, zone, server] = [random.below(2), random.below(3), random.below(3)];
    devices.push({
      id,
      region,
      zone,
      ip: `10.${region}.${zone}.${server}`,
      port: 6200,
      device: `d${id}`,
      weight: 1 + random.below(9),
      meta: '',
      state: 'active',
    });
  }
  return buildTree(devices);
}

test('each of 1,000 equal devices gets 1,048.576 slots per replica at power 20', () => {
  const tree = buildTree(
    Array.from({ length: 1_000 }, (_, id) => {
      const place = { region: 1, zone: id % 10, ip: `10.0.${id % 100}.1`, port: 6200 };
      return { id, ...place, device: `d${id}`, weight: 1, meta: '', state: 'active' as const };
    }),
  );
  const shares = computeShares(tree, { replicas: 3, overload: 0 });
  const targets = computeTargets(tree, shares, { partitions: 2 ** 20, slots: 3 * 2 ** 20 });
  expect(targets.exact[tree.firstLeaf]! / 3).toBeCloseTo(1_048.576, 9);
});

test(`shares of ${SEEDS} random trees add up within the overload, and quotas round them`, () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const label = `seed ${seed}`;
    const random = seededRandom(seed);
    const replicas = [1, 2, 3, 2.5, 4][random.below(5)]!;
    const overload = [0, 0.1, 0.5, 3][random.below(4)]!;
    const tree = randomTree(random, Math.ceil(replicas));
    const { wanted, base, caps } = computeShares(tree, { replicas, overload });
    expect(wanted[0], label).toBeCloseTo(replicas, 9);
    for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
      const share = wanted[tree.firstLeaf + leaf]!;
      expect(share, label).toBeLessThanOrEqual(Math.min(1, (1 + overload) * base[leaf]!) + 1e-9);
    }
    const plain = computeShares(tree, { replicas, overload: 0 }).wanted;
    const gained = excessByTier(tree, plain, caps).map(
      (excess, tier) => excess - excessByTier(tree, wanted, caps)[tier]!,
    );
    const first = gained.find((gain) => Math.abs(gain) > 1e-9) ?? 0;
    expect(first, `${label}: the first tier to change has less excess`).toBeGreaterThanOrEqual(0);
    checkQuotas(tree, wanted, { base, caps, label });
  }
});

/** Returns the sum of values above the caps, by tier: regions, zones, servers. */
function excessByTier(tree: TierTree, values: Float64Array, caps: Int32Array): number[] {
  const excess = [0, 0, 0];
  for (let v = 1; v < tree.firstLeaf; v += 1) {
    excess[tree.level[v]! - 1]! += over(values[v]!, caps[v]!);
  }
  return excess;
}

const over = (value: number, cap: number): number => Math.max(0, value - cap);

function checkQuotas(
  tree: TierTree,
  wanted: Float64Array,
  rest: { base: Float64Array; caps: Int32Array; label: string },
): void {
  const partitions = 64;
  const slots = Math.round(wanted[0]! * partitions);
  const targets = computeTargets(tree, { ...rest, wanted }, { partitions, slots });
  const quotas = computeQuotas(tree, targets, null);
  const sums = quotas.slice();
  sumUp(tree, sums);
  expect(sums, rest.label).toEqual(quotas);
  quotas.forEach((quota, v) => {
    expect(Math.abs(quota - targets.exact[v]!), rest.label).toBeLessThan(1);
  });
}

test('quotas add up on a tree with shares that are nearly whole numbers', () => {
  const places = ['0/3/0', '1/3/0', '0/3/2', '0/3/0', '0/3/2', '1/0/3', '0/2/3', '0/3/0'];
  const weights = [1e6, 1e-6, 1e-6, 1e-6, 1, 1, 1, 1];
  const devices = places.map((place, id): BuilderDevice => {
    const [region = 0, zone = 0, server = 0] = place.split('/').map(Number);
    const address = { region, zone, ip: `10.0.0.${server}`, port: 6200, device: `d${id}` };
    return { id, ...address, weight: weights[id]!, meta: '', state: 'active' };
  });
  const tree = buildTree(devices);
  const shares = computeShares(tree, { replicas: 3, overload: 0 });
  const quotas = computeQuotas(
    tree,
    computeTargets(tree, shares, { partitions: 8, slots: 24 }),
    null,
  );
  expect(quotas[0]).toBe(24);
  const sums = quotas.slice();
  sumUp(tree, sums);
  expect(sums).toEqual(quotas);
});

test(`the required overload of ${SEEDS} random trees suffices, and 1 % less does not`, () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = seededRandom(seed);
    const tree = randomTree(random, 4);
    const plain = computeShares(tree, { replicas: 3, overload: 0 });
    const needed = requiredOverload(tree, plain);
    if (needed === null || needed < 1e-5) continue;
    const fits = (overload: number): boolean => {
      const { wanted, caps } = computeShares(tree, { replicas: 3, overload });
      return wanted.every((value, v) => v >= tree.firstLeaf || over(value, caps[v]!) < 1e-7);
    };
    expect(fits(needed), `seed ${seed}`).toBe(true);
    expect(fits(needed * 0.99), `seed ${seed}`).toBe(false);
  }
});
