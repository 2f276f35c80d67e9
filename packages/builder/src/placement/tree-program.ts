// Dynamic program over the tree: the cost of k replicas of a partition below a node. Pure.
// Sums along children are min-plus convolutions. They are short, because a partition has few
// replicas.
import type { TierTree } from '../state/tier-tree.ts';

/** Cost of k replicas below a node that arises at this node alone; Infinity forbids k. */
type NodeCost = (node: number, replicas: number) => number;

interface TreeCosts {
  readonly tree: TierTree;
  readonly replicas: number;
  readonly cost: NodeCost;
  /** By node, by k: the least cost of its subtree with k replicas in it. */
  readonly below: readonly Float64Array[];
  /** By node, by k: the least cost of its elder siblings' subtrees with k replicas together. */
  readonly elder: readonly Float64Array[];
}

/** Computes the costs bottom-up. Calls `cost` of a leaf for 0 and 1, of the root for all. */
export function treeCosts(tree: TierTree, replicas: number, cost: NodeCost): TreeCosts {
  const elder: Float64Array[] = [];
  const below: Float64Array[] = [];
  for (let v = tree.nodes - 1; v >= 0; v -= 1) {
    let sum: Float64Array = v < tree.firstLeaf ? new Float64Array(1) : new Float64Array(2);
    const first = tree.firstChild[v]!;
    for (let u = first; u < first + tree.childCount[v]!; u += 1) {
      elder[u] = sum;
      sum = convolved(sum, below[u]!, replicas);
    }
    below[v] = sum.map((least, k) => least + cost(v, k));
  }
  return { tree, replicas, cost, below, elder };
}

/** Returns the least cost of all `replicas`; Infinity when nothing is feasible. */
export function leastCost({ below, replicas }: TreeCosts): number {
  return below[0]![replicas] ?? Infinity;
}

/** Returns by node the fewest and most replicas it has among all solutions of the least cost. */
export function rangesOfLeast(costs: TreeCosts): { low: Uint8Array; high: Uint8Array } {
  const { tree, replicas, cost, below, elder } = costs;
  const least = leastCost(costs);
  const low = new Uint8Array(tree.nodes);
  const high = new Uint8Array(tree.nodes);
  /** By node, by k: the least cost of everything outside its subtree when the subtree has k. */
  const outside: Float64Array[] = [new Float64Array(replicas + 1).fill(Infinity)];
  outside[0]![replicas] = 0;
  for (let v = 0; v < tree.nodes; v += 1) {
    const inside = below[v]!;
    const counts = [...inside.keys()].filter((k) => inside[k]! + outside[v]![k]! === least);
    low[v] = counts[0]!;
    high[v] = counts.at(-1)!;
    // Costs when this child and its elder siblings have k together.
    let rest: Float64Array = inside.map((_, k) => outside[v]![k]! + cost(v, k));
    const first = tree.firstChild[v]!;
    for (let u = first + tree.childCount[v]! - 1; u >= first; u -= 1) {
      outside[u] = completed(below[u]!.length, elder[u]!, rest);
      rest = completed(elder[u]!.length, below[u]!, rest);
    }
  }
  return { low, high };
}

function convolved(a: Float64Array, b: Float64Array, most: number): Float64Array {
  const sum = new Float64Array(Math.min(most + 1, a.length + b.length - 1)).fill(Infinity);
  for (let i = 0; i < a.length; i += 1) {
    for (let k = 0; k < b.length && i + k < sum.length; k += 1) {
      sum[i + k] = Math.min(sum[i + k]!, a[i]! + b[k]!);
    }
  }
  return sum;
}

/** Returns by k the least cost, over all j, when the others have j and all together have j + k. */
function completed(length: number, others: Float64Array, together: Float64Array): Float64Array {
  const least = new Float64Array(length).fill(Infinity);
  for (let k = 0; k < length; k += 1) {
    for (let j = 0; j < others.length && j + k < together.length; j += 1) {
      least[k] = Math.min(least[k]!, others[j]! + together[j + k]!);
    }
  }
  return least;
}
