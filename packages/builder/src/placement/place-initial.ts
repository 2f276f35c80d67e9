// The first placement of a ring: every node at its quota, partitions in bounds, pairs spread. Pure.
// Uses McNaughton's wrap-around (1959) in blocks with permuted children. Where a partition occurs
// once at most, any bijection is legal: of the next few slots in a shuffled queue it takes the one
// with the lowest pair score.

import { type Random, seededRandom } from '@ringwright/base/random';
import type { TierTree } from '../state/tier-tree.ts';
import { emptyPairCounts, type PairCounts } from './pair-counts.ts';
import { emptyPlacement, type Placement } from './placement.ts';
import { replicasOf } from './rebalance-work.ts';
import { shuffle } from './shuffle.ts';
import { type Classes, wrapAround } from './wrap-around.ts';

/** Queue entries examined per partition: 8 gives 0.05 of a random ring's variance. */
const WINDOW = 8;
/** With more leaves, the matrix exceeds every cache, and each examined entry costs a cache miss. */
const WINDOW_LEAVES_MAX = 4_096;
const WINDOW_LARGE = 5;
const SEED = 0x52_49_4e_47;

interface Work {
  readonly tree: TierTree;
  readonly quotas: Int32Array;
  readonly random: Random;
  readonly placement: Placement;
  /** By partition: slots filled so far. */
  readonly filled: Uint8Array;
  readonly pairs: PairCounts | null;
}

/** Returns a placement in which leaf i holds exactly quotas[firstLeaf + i] slots. Deterministic. */
export function placeInitial(
  tree: TierTree,
  quotas: Int32Array,
  ring: { readonly partitions: number; readonly replicas: number },
): Placement {
  const placement = emptyPlacement(ring, tree.leaves);
  const work: Work = {
    tree,
    quotas,
    random: seededRandom(SEED),
    placement,
    filled: new Uint8Array(ring.partitions),
    pairs: emptyPairCounts(quotas.subarray(tree.firstLeaf)),
  };
  const all = Int32Array.from({ length: ring.partitions }, (_, partition) => partition);
  fillNode(work, 0, {
    more: all.subarray(0, placement.cut),
    less: all.subarray(placement.cut),
    few: placement.most - 1,
  });
  spreadFirstRows(placement, quotas.subarray(tree.firstLeaf));
  return placement;
}

function fillNode(work: Work, v: number, classes: Classes): void {
  if (classes.more.length === 0) {
    if (classes.few === 0) return;
    fillNode(work, v, { more: classes.less, less: classes.more, few: classes.few - 1 });
    return;
  }
  if (classes.few === 0) {
    dealSlots(work, v, classes.more);
    return;
  }
  const { tree, quotas, random } = work;
  const first = tree.firstChild[v]!;
  const children = Array.from({ length: tree.childCount[v]! }, (_, i) => first + i);
  if (children.length === 1) {
    fillNode(work, first, classes);
    return;
  }
  const parts = wrapAround(
    children.map((u) => quotas[u]!),
    classes,
    random,
  );
  parts.forEach((below, i) => {
    fillNode(work, first + i, below);
  });
}

/** Gives each partition of the list one slot below `v`. No partition occurs twice. */
function dealSlots(work: Work, v: number, partitions: Int32Array): void {
  const queue = shuffledSlots(work, v, partitions.length);
  const { width, leaf } = work.placement;
  const { filled, pairs } = work;
  for (let at = 0; at < partitions.length; at += 1) {
    const partition = partitions[at]!;
    const start = partition * width;
    const end = start + filled[partition]!;
    if (pairs !== null && end > start) takeLeastPaired(queue, at, { pairs, leaf, start, end });
    leaf[end] = queue[at]!;
    filled[partition]! += 1;
  }
}

interface Held {
  readonly pairs: PairCounts;
  readonly leaf: Uint16Array | Uint32Array;
  readonly start: number;
  readonly end: number;
}

/** Moves the best of the next WINDOW entries to position `at`, and counts its pairs. */
function takeLeastPaired(queue: Int32Array, at: number, held: Held): void {
  const { counts, inverse, leaves } = held.pairs;
  const { leaf, start, end } = held;
  const window = leaves > WINDOW_LEAVES_MAX ? WINDOW_LARGE : WINDOW;
  const last = Math.min(queue.length, at + window);
  let best = at;
  let bestScore = Infinity;
  for (let i = at; i < last; i += 1) {
    const candidate = queue[i]!;
    let score = 0;
    for (let slot = start; slot < end; slot += 1) {
      const other = leaf[slot]!;
      score += counts[other * leaves + candidate]! * inverse[other]!;
    }
    score *= inverse[candidate]!;
    if (score < bestScore) {
      bestScore = score;
      best = i;
    }
  }
  const chosen = queue[best]!;
  queue[best] = queue[at]!;
  queue[at] = chosen;
  // Nodes are dealt in tree order, so the earlier leaf of a pair is always the same one. Half of
  // the matrix suffices; each write to the other half would cost a cache miss.
  for (let slot = start; slot < end; slot += 1) counts[leaf[slot]! * leaves + chosen]! += 1;
}

/** Returns every leaf below `v` as often as its quota, in random order. */
function shuffledSlots(work: Work, v: number, length: number): Int32Array {
  const { tree, quotas, random } = work;
  const queue = new Int32Array(length);
  let at = 0;
  let [first, end] = [v, v + 1];
  while (first < tree.firstLeaf) {
    const last = end - 1;
    end = tree.firstChild[last]! + tree.childCount[last]!;
    first = tree.firstChild[first]!;
  }
  for (let node = first; node < end; node += 1) {
    queue.fill(node - tree.firstLeaf, at, at + quotas[node]!);
    at += quotas[node]!;
  }
  return shuffle(queue, random);
}

/**
 * Swaps slots within partitions. Placement fills low zones into row 0, and clients read from row 0
 * first: without this step, some devices would get three times the reads of others.
 */
function spreadFirstRows(placement: Placement, quotas: Int32Array): void {
  const { partitions, width, leaf } = placement;
  const firstRowShares = new Float64Array(quotas.length);
  for (let partition = 0; partition < partitions; partition += 1) {
    const start = partition * width;
    const end = start + replicasOf(placement, partition);
    let best = start;
    for (let slot = start + 1; slot < end; slot += 1) {
      if (firstRowShares[leaf[slot]!]! < firstRowShares[leaf[best]!]!) best = slot;
    }
    const first = leaf[best]!;
    leaf[best] = leaf[start]!;
    leaf[start] = first;
    firstRowShares[first]! += 1 / quotas[first]!;
  }
}
