// How evenly pairs of devices share partitions, against what chance would give. Pure.
import { countPairs, emptyPairCounts } from './pair-counts.ts';
import type { Placement } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';

export interface SpreadFigures {
  /** Variance of the partitions that pairs of devices share, relative to a random ring's (1). */
  readonly variance: number;
  /** Peers a device shares partitions with, of all it may: the least over devices, 0 … 1. */
  readonly leastWidth: number;
  /** Largest pair count, relative to what is expected of that pair. */
  readonly worstPair: number;
}

/** Null above 10,000 devices, or where no two devices may share a partition. */
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

/** `rate` times both loads is what chance would give a pair. */
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

/** Two leaves may share a partition unless a tier above both takes one replica at most. */
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
