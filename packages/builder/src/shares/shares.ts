// Each device's share: replicas per partition, a real number of at most one. Pure.
import { sumUp, type TierTree } from '../state/tier-tree.ts';
import { fillWater } from './water-filling.ts';

/** A sum this close to a cap counts as at the cap. */
export const SHARE_EPSILON = 1e-9;

export interface Shares {
  /** By node: replicas per partition wanted below it. */
  readonly wanted: Float64Array;
  /** By leaf: the share by weight alone, at most one. */
  readonly base: Float64Array;
  /** By node: most replicas of one partition there for perfect dispersion. */
  readonly caps: Int32Array;
}

/**
 * Returns shares by weight. With overload, a device may hold up to (1 + overload) times its base
 * share where that brings tiers nearer to their dispersion caps: regions first, then zones, then
 * servers.
 */
export function computeShares(
  tree: TierTree,
  settings: {
    readonly replicas: number;
    readonly overload: number;
    /** Replaces the shares by weight alone. */
    readonly base?: Float64Array;
  },
): Shares {
  const base = settings.base ?? baseShares(tree.weights, settings.replicas);
  const caps = dispersionCaps(tree, settings.replicas);
  const wanted = new Float64Array(tree.nodes);
  if (settings.overload > 0) {
    const most = base.map((share) => Math.min(1, (1 + settings.overload) * share));
    wanted.set(fillWater(tree, { caps, most, sum: settings.replicas }), tree.firstLeaf);
  } else {
    wanted.set(base, tree.firstLeaf);
  }
  sumUp(tree, wanted);
  return { wanted, base, caps };
}

/** Returns min(1, lambda * weight), with the lambda that makes the sum `replicas`. */
export function baseShares(weights: Float64Array, replicas: number): Float64Array {
  const order = Array.from(weights.keys()).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const rest = new Float64Array(order.length + 1);
  for (let i = order.length - 1; i >= 0; i -= 1) rest[i] = rest[i + 1]! + weights[order[i]!]!;
  let fullCount = 0;
  while (
    fullCount < order.length &&
    fullCount < replicas &&
    (replicas - fullCount) * weights[order[fullCount]!]! > rest[fullCount]!
  ) {
    fullCount += 1;
  }
  const shares = new Float64Array(weights.length);
  order.forEach((leaf, i) => {
    const fair = ((replicas - fullCount) * weights[leaf]!) / rest[fullCount]!;
    shares[leaf] = i < fullCount ? 1 : Math.min(1, fair);
  });
  return shares;
}

/**
 * Returns by node the least cap with which the replicas of a partition fit, from the root down.
 * Like Swift's ceil(replicas / children), but aware of children with too few devices.
 */
function dispersionCaps(tree: TierTree, replicas: number): Int32Array {
  const capacity = new Int32Array(tree.nodes);
  capacity.fill(1, tree.firstLeaf);
  sumUp(tree, capacity);
  const caps = new Int32Array(tree.nodes);
  caps[0] = Math.ceil(replicas);
  for (let v = 0; v < tree.firstLeaf; v += 1) {
    const first = tree.firstChild[v]!;
    const end = first + tree.childCount[v]!;
    const wanted = Math.min(caps[v]!, capacity[v]!);
    let cap = Math.floor(wanted / Math.max(1, end - first));
    while (fits(capacity, [first, end], cap) < wanted) cap += 1;
    for (let u = first; u < end; u += 1) caps[u] = Math.min(cap, capacity[u]!);
  }
  return caps;
}

function fits(capacity: Int32Array, [first, end]: readonly [number, number], cap: number): number {
  let sum = 0;
  for (let u = first; u < end; u += 1) sum += Math.min(cap, capacity[u]!);
  return sum;
}
