// "Every partition in at least k zones" as a hard rule that overrides weights. Pure.
// A limit of h replicas per partition and zone makes other zones take part. The rule takes the
// largest h that guarantees k zones, so that shares deviate from weights no more than necessary.
// Where no such limit does, as with 4 replicas in 3 unequal zones, the k largest zones get at least
// one replica of each partition.
import { CodedError } from '@ringwright/base/coded-error';
import { baseShares, computeShares, type Shares } from '../shares/shares.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import type { Placement } from './placement.ts';
import { computeTargets, type Targets } from './targets.ts';

const ZONE_LEVEL = 2;
const OVER = 1e-9;

interface Wanted {
  readonly shares: Shares;
  readonly targets: Targets;
}

interface ZoneRule {
  readonly replicas: number;
  readonly overload: number;
  readonly state: BuilderState;
  readonly partitions: number;
  readonly slots: number;
}

/** Returns `plain` when the rule holds without a limit or is not set. Throws ZONES_UNREACHABLE. */
export function zonesKept(tree: TierTree, plain: Wanted, rule: ZoneRule): Wanted {
  const { state, replicas, overload } = rule;
  const { zonesMin } = state;
  if (zonesMin === undefined) return plain;
  let certain = certainZones(tree, plain.targets, replicas);
  if (certain >= zonesMin) return plain;
  for (let most = Math.ceil(replicas); most >= 1; most -= 1) {
    const base = sharesUnder(tree, replicas, most);
    if (base === null) break;
    const shares = computeShares(tree, { replicas, overload, base });
    const targets = computeTargets(tree, shares, rule);
    const zones = certainZones(tree, targets, replicas);
    if (zones >= zonesMin) return { shares, targets };
    certain = Math.max(certain, zones);
  }
  const lifted = zonesLifted(tree, rule, zonesMin);
  if (lifted !== null) return lifted;
  const zones = zonesOf(tree).length;
  throw new CodedError(
    'ZONES_UNREACHABLE',
    `every partition must be in ${zonesMin} zones, but ${zones} have devices with weight, ` +
      `and only ${certain} can be guaranteed with ${state.replicas} replicas`,
    {
      hint: `add devices in other zones, or ring-builder set ${state.ring} --zones-min ${certain}`,
      details: { zonesMin, zones, certain, replicas: state.replicas },
    },
  );
}

/** Returns the partitions that are in fewer than `count` zones. */
export function partitionsBelow(tree: TierTree, placement: Placement, count: number): number[] {
  const zoneOf = zoneOfLeaves(tree);
  const { partitions, width, leaf, none } = placement;
  return Array.from({ length: partitions }, (_, partition) => partition).filter((partition) => {
    const leaves = leaf.subarray(partition * width, (partition + 1) * width);
    return new Set([...leaves].flatMap((one) => (one === none ? [] : zoneOf[one]!))).size < count;
  });
}

/** Returns null when there are fewer than `count` zones. */
function zonesLifted(tree: TierTree, rule: ZoneRule, count: number): Wanted | null {
  const { replicas, overload } = rule;
  const base = sharesInZones(tree, replicas, count);
  if (base === null) return null;
  // Overload may take from a zone what the rule gave it.
  for (const allowed of [overload, 0]) {
    const shares = computeShares(tree, { replicas, overload: allowed, base });
    const targets = computeTargets(tree, shares, rule);
    if (certainZones(tree, targets, replicas) >= count) return { shares, targets };
  }
  return null;
}

/** Returns the fewest zones that a partition can be in within its bounds. */
function certainZones(tree: TierTree, { low, high }: Targets, replicas: number): number {
  const zones = zonesOf(tree);
  const forced = zones.filter((v) => low[v]! > 0);
  let left = Math.floor(replicas) - forced.reduce((sum, v) => sum + high[v]!, 0);
  let count = forced.length;
  const others = zones.filter((v) => low[v] === 0).sort((a, b) => high[b]! - high[a]! || a - b);
  for (const v of others) {
    if (left <= 0) break;
    left -= high[v]!;
    count += 1;
  }
  return count;
}

function zonesOf(tree: TierTree): number[] {
  return Array.from({ length: tree.firstLeaf }, (_, v) => v).filter(
    (v) => tree.level[v] === ZONE_LEVEL,
  );
}

/** Returns shares by leaf, by weight, with no zone above `most`; null when they do not fit. */
function sharesUnder(tree: TierTree, replicas: number, most: number): Float64Array | null {
  const zoneOf = zoneOfLeaves(tree);
  const shares = new Float64Array(tree.leaves);
  const full = new Set<number>();
  const setShares = (leaves: readonly number[], sum: number): boolean => {
    if (sum > leaves.length + OVER) return false;
    const weights = Float64Array.from(leaves, (leaf) => tree.weights[leaf]!);
    baseShares(weights, Math.max(0, sum)).forEach((share, i) => {
      shares[leaves[i]!] = share;
    });
    return true;
  };
  const all = Array.from({ length: tree.leaves }, (_, leaf) => leaf);
  for (;;) {
    const free = all.filter((leaf) => !full.has(zoneOf[leaf]!));
    const usedShares = [...full].reduce(
      (sum, zone) => sum + Math.min(most, sizeOf(zoneOf, zone)),
      0,
    );
    if (!setShares(free, replicas - usedShares)) return null;
    const sums = new Map<number, number>();
    for (const leaf of free)
      sums.set(zoneOf[leaf]!, (sums.get(zoneOf[leaf]!) ?? 0) + shares[leaf]!);
    const over = [...sums].filter(([, sum]) => sum > most + OVER).map(([zone]) => zone);
    if (over.length === 0) return shares;
    for (const zone of over) {
      full.add(zone);
      setShares(
        all.filter((leaf) => zoneOf[leaf] === zone),
        Math.min(most, sizeOf(zoneOf, zone)),
      );
    }
  }
}

/**
 * Returns shares by leaf, by weight, with at least one replica in each of the `count` largest
 * zones; null when there are fewer zones.
 */
function sharesInZones(tree: TierTree, replicas: number, count: number): Float64Array | null {
  const zoneOf = zoneOfLeaves(tree);
  const shares = baseShares(tree.weights, replicas);
  const sharesOfZones = (): Float64Array => {
    const sums = new Float64Array(tree.nodes);
    shares.forEach((share, leaf) => {
      sums[zoneOf[leaf]!]! += share;
    });
    return sums;
  };
  const sums = sharesOfZones();
  const largest = zonesOf(tree)
    .sort((a, b) => sums[b]! - sums[a]! || a - b)
    .slice(0, count);
  if (largest.length < count) return null;
  const setShares = (isIn: (zone: number) => boolean, sum: number): void => {
    const leaves = [...zoneOf.keys()].filter((leaf) => isIn(zoneOf[leaf]!));
    const weights = Float64Array.from(leaves, (leaf) => tree.weights[leaf]!);
    baseShares(weights, sum).forEach((share, i) => {
      shares[leaves[i]!] = share;
    });
  };
  // Each round takes from the other zones, and leaves them enough devices for what remains.
  for (const lifted = new Set<number>(); ; ) {
    const now = sharesOfZones();
    const short = largest.filter((zone) => !lifted.has(zone) && now[zone]! < 1);
    if (short.length === 0) return shares;
    for (const zone of short) {
      lifted.add(zone);
      setShares((one) => one === zone, 1);
    }
    setShares((one) => !lifted.has(one), replicas - lifted.size);
  }
}

function zoneOfLeaves(tree: TierTree): Int32Array {
  return Int32Array.from({ length: tree.leaves }, (_, leaf) => {
    return tree.parent[tree.parent[tree.firstLeaf + leaf]!]!;
  });
}

function sizeOf(zoneOf: Int32Array, zone: number): number {
  return zoneOf.reduce((count, one) => count + (one === zone ? 1 : 0), 0);
}
