// Weighted max-min fair shares under the caps of the tiers, by water filling in a tree. Pure.
// It is exact because the network is series-parallel (Bein, Brucker, Tamir 1985): filling the
// cheapest paths first, without ever taking flow back, is optimal there.
import { LEAF_LEVEL, type TierTree } from '../state/tier-tree.ts';

const RELEASE_REGION = 4;
const RELEASE_ZONE = 2;
const RELEASE_SERVER = 1;
const MASKS = 8;
const ENOUGH = 1e-12;

interface Water {
  /** By node. */
  readonly caps: Int32Array;
  /** By leaf: the most it may hold. */
  readonly most: Float64Array;
  /** The total of all leaves. */
  readonly sum: number;
}

/** Returns shares by leaf that add up to `sum`. Releases caps one by one, lowest tier first. */
export function fillWater(tree: TierTree, water: Water): Float64Array {
  let held: Float64Array = new Float64Array(tree.leaves);
  for (let mask = 0; mask < MASKS; mask += 1) {
    held = fillUnder(tree, water, { mask, held });
    if (held.reduce((sum, one) => sum + one, 0) >= water.sum * (1 - ENOUGH)) break;
  }
  return held;
}

/** Returns how much fits under all caps. Dispersion is perfect when that reaches the replicas. */
export function capacityUnderCaps(tree: TierTree, caps: Int32Array, most: Float64Array): number {
  const fits = new Float64Array(tree.nodes);
  fits.set(most, tree.firstLeaf);
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    fits[tree.parent[v]!]! += Math.min(fits[v]!, caps[v]!);
  }
  return fits[0]!;
}

/** Continues from `held` with some caps released. A node at its cap freezes at that level. */
function fillUnder(
  tree: TierTree,
  water: Water,
  previous: { readonly mask: number; readonly held: Float64Array },
): Float64Array {
  const { most } = water;
  const freeze = new Float64Array(tree.leaves).fill(Infinity);
  let top = 0;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    top = Math.max(top, most[leaf]! / tree.weights[leaf]!);
  }
  const filledAt = (leaf: number, level: number): number => {
    const risen = tree.weights[leaf]! * Math.min(level, freeze[leaf]!);
    return Math.max(previous.held[leaf]!, Math.min(most[leaf]!, risen));
  };
  const span = leafSpans(tree);
  for (let v = tree.firstLeaf - 1; v >= 0; v -= 1) {
    if (released(tree.level[v]!, previous.mask)) continue;
    const first = span.first[v]!;
    const end = span.end[v]!;
    const sumAt = (level: number): number => {
      let sum = 0;
      for (let leaf = first; leaf < end; leaf += 1) sum += filledAt(leaf, level);
      return sum;
    };
    const level = levelOf(sumAt, v === 0 ? water.sum : water.caps[v]!, top);
    for (let leaf = first; leaf < end; leaf += 1) freeze[leaf] = Math.min(freeze[leaf]!, level);
  }
  return Float64Array.from(most, (_, leaf) => filledAt(leaf, top));
}

function released(level: number, mask: number): boolean {
  if (level === 1) return (mask & RELEASE_REGION) !== 0;
  if (level === 2) return (mask & RELEASE_ZONE) !== 0;
  return level === LEAF_LEVEL - 1 && (mask & RELEASE_SERVER) !== 0;
}

/** Returns the level at which the sum reaches `wanted`, by bisection to the last bit, or `top`. */
function levelOf(sumAt: (level: number) => number, wanted: number, top: number): number {
  if (sumAt(top) <= wanted) return top;
  let low = 0;
  let high = top;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    if (sumAt(middle) < wanted) low = middle;
    else high = middle;
  }
}

function leafSpans(tree: TierTree): { first: Int32Array; end: Int32Array } {
  const first = new Int32Array(tree.nodes).fill(tree.leaves);
  const end = new Int32Array(tree.nodes);
  for (let v = tree.nodes - 1; v >= 0; v -= 1) {
    if (v >= tree.firstLeaf) {
      first[v] = v - tree.firstLeaf;
      end[v] = first[v]! + 1;
    }
    const up = tree.parent[v]!;
    first[up] = Math.min(first[up]!, first[v]!);
    end[up] = Math.max(end[up]!, end[v]!);
  }
  return { first, end };
}
