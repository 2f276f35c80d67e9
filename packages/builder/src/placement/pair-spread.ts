// How evenly pairs of devices share partitions, compared with a random placement. Pure.
import { countPairs, emptyPairCounts } from './pair-counts.ts';
import type { Placement } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';

export interface SpreadFigures {
  /** Variance of the number of partitions that pairs share, relative to a random ring (1). */
  readonly variance: number;
  /** Minimum over devices: the fraction (0 … 1) of possible peers that share a partition. */
  readonly leastWidth: number;
  /** Largest pair count, relative to the count expected of that pair. */
  readonly worstPair: number;
}

/** Returns null above 10,000 devices, or when no two devices may share a partition. */
export function spreadFigures(
  { tree, targets }: PlacementProblem,
  placement: Placement,
  loads: Int32Array,
): SpreadFigures | null {
  const leafLoads = loads.subarray(tree.firstLeaf);
  const pairs = emptyPairCounts(leafLoads);
  if (pairs === null) return null;
  countPairs(pairs, placement);
  const mayMeet = meetingTest(tree, targets);
  let products = 0;
  let shared = 0;
  for (let a = 0; a < tree.leaves; a += 1) {
    for (let b = 0; b < a; b += 1) {
      if (!mayMeet(a, b)) continue;
      products += leafLoads[a]! * leafLoads[b]!;
      shared += pairs.counts[a * tree.leaves + b]!;
    }
  }
  if (products === 0 || shared === 0) return null;
  return compareWithChance({ counts: pairs.counts, loads: leafLoads, mayMeet }, shared / products);
}

interface Meetings {
  readonly counts: Uint16Array | Uint32Array;
  readonly loads: Int32Array;
  readonly mayMeet: (a: number, b: number) => boolean;
}

/** Compares the counts with chance: `rate` times both loads is the expected count of a pair. */
function compareWithChance({ counts, loads, mayMeet }: Meetings, rate: number): SpreadFigures {
  const leaves = loads.length;
  let squares = 0;
  let pairs = 0;
  let worstPair = 0;
  let leastWidth = 1;
  for (let a = 0; a < leaves; a += 1) {
    let peers = 0;
    let met = 0;
    for (let b = 0; b < leaves; b += 1) {
      if (a === b || !mayMeet(a, b)) continue;
      const expected = rate * loads[a]! * loads[b]!;
      if (expected === 0) continue;
      const count = counts[a * leaves + b]!;
      squares += (count - expected) ** 2 / expected;
      pairs += 1;
      worstPair = Math.max(worstPair, count / expected);
      peers += 1;
      if (count > 0) met += 1;
    }
    if (peers > 0) leastWidth = Math.min(leastWidth, met / peers);
  }
  return { variance: squares / pairs, leastWidth, worstPair };
}

/**
 * Returns a test whether two leaves may share a partition. They may not where a tier above both
 * takes at most one replica.
 */
function meetingTest(
  tree: PlacementProblem['tree'],
  targets: PlacementProblem['targets'],
): (a: number, b: number) => boolean {
  const single = new Int32Array(tree.leaves).fill(-1);
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    for (let v = tree.parent[tree.firstLeaf + leaf]!; v > 0; v = tree.parent[v]!) {
      if (targets.high[v] === 1) single[leaf] = v;
    }
  }
  return (a, b) => single[a] === -1 || single[a] !== single[b];
}
