// Targets under pins: those of the weights if some table meets them, else the fairest ones. Pure.
// The loads that tables can have form a base polyhedron, so the fairest loads follow from its
// densest sets (Fujishige 1980). The flow finds such a set: the cut that blocks a remaining
// surplus.
import { assert } from '@ringwright/base/assert';
import type { Ring } from '@ringwright/ring/ring';
import { pinnedBounds } from '../placement/pinned-bounds.ts';
import { type Placement, shapeOf } from '../placement/placement.ts';
import type { PlacementProblem } from '../placement/placement-problem.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import { boundsOf, type Targets, targetsOfLeaves } from '../placement/targets.ts';
import { leastCost, treeCosts } from '../placement/tree-program.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { rebalanceOrCut } from './rebalance.ts';

export interface PinnedProblem extends PlacementProblem {
  /** A table that meets the targets, with the fewest moves from `before`; null without pins. */
  readonly solved: Placement | null;
}

/**
 * Returns the problem with the bounds of pinned partitions, and with targets that some table within
 * all bounds meets. They depend on weights and pins alone, not on `before`. Throws PIN_INVALID.
 */
export function pinnedProblem(
  problem: PlacementProblem,
  state: BuilderState,
  before: () => Placement,
): PinnedProblem {
  if (state.pins === undefined) return { ...problem, solved: null };
  const { tree, ring } = problem;
  const own = pinnedBounds(tree, problem.targets, state);
  const start = before();
  const { replicas } = ring;
  let targets: Targets = { ...problem.targets, own };
  let groups: readonly Group[] = [{ leaves: leavesOf(tree), slots: targets.exact[0]! }];
  for (;;) {
    const input = { tree, targets, before: start, replicas, frozen: null, forced: null };
    const { placement, overfull } = rebalanceOrCut(input);
    if (overfull === null) return { ...problem, targets, solved: placement };
    const goal = { tree, targets, ring };
    const split = groups.flatMap((_, i) => parted(goal, { groups, i, overfull }));
    assert(split.length > groups.length, 'a surplus that cannot leave is above a target');
    groups = pooled(split, problem.targets, tree);
    targets = { ...levelled(problem, groups), own };
  }
}

/** Leaves whose loads are at the same level. */
interface Group {
  readonly leaves: readonly number[];
  /** The total of these leaves. The groups before them hold as little as any table permits. */
  readonly slots: number;
}

interface Goal {
  readonly tree: TierTree;
  readonly targets: Targets;
  readonly ring: Pick<Ring, 'partitions' | 'replicas'>;
}

/** Returns the group, divided in two when its overfull part must hold more than its targets. */
function parted(
  goal: Goal,
  selection: {
    readonly groups: readonly Group[];
    readonly i: number;
    readonly overfull: Uint8Array;
  },
): Group[] {
  const { tree, targets } = goal;
  const { leaves, slots } = selection.groups[selection.i]!;
  const part = leaves.filter((leaf) => selection.overfull[leaf] === 1);
  const rest = leaves.filter((leaf) => selection.overfull[leaf] === 0);
  if (part.length === 0 || rest.length === 0) return [{ leaves, slots }];
  const elders = selection.groups.slice(0, selection.i);
  const elderSlots = elders.reduce((sum, group) => sum + group.slots, 0);
  const leavesSoFar = [...elders.flatMap((group) => group.leaves), ...part];
  const least = leastLoad(goal, leavesSoFar) - elderSlots;
  const targetSlots = part.reduce((sum, leaf) => sum + targets.exact[tree.firstLeaf + leaf]!, 0);
  if (least <= targetSlots + EPSILON) return [{ leaves, slots }];
  return [
    { leaves: part, slots: least },
    { leaves: rest, slots: slots - least },
  ];
}

/** Precision of the targets, in slots. */
const EPSILON = 1e-6;

/** Returns the fewest slots that these leaves together hold in any table within the bounds. */
function leastLoad(goal: Goal, leaves: readonly number[]): number {
  const { tree, targets } = goal;
  const counted = new Uint8Array(tree.nodes);
  for (const leaf of leaves) counted[tree.firstLeaf + leaf] = 1;
  const leastOf = (partition: number, replicas: number): number => {
    const { low, high } = boundsOf(targets, partition);
    return leastCost(
      treeCosts(tree, replicas, (v, k) => {
        if (v > 0 && (k < low[v]! || k > high[v]!)) return Infinity;
        return counted[v] === 1 ? k : 0;
      }),
    );
  };
  return sumOverPartitions(goal, leastOf);
}

/**
 * Sums `slots` over all partitions: one by one for those with their own bounds, and once per
 * replica count for all others.
 */
function sumOverPartitions(
  { targets, ring }: Goal,
  slots: (partition: number, replicas: number) => number,
): number {
  const shape = shapeOf(ring);
  let sum = 0;
  const common = new Map<number, number>([
    [shape.most, shape.cut],
    [shape.most - 1, ring.partitions - shape.cut],
  ]);
  for (const partition of targets.own?.keys() ?? []) {
    const replicas = replicasOf(shape, partition);
    sum += slots(partition, replicas);
    common.set(replicas, common.get(replicas)! - 1);
  }
  for (const [replicas, count] of common) {
    if (count > 0) sum += count * slots(COMMON, replicas);
  }
  return sum;
}

/** Stands for the partitions without their own bounds. */
const COMMON = -1;

/** Merges neighboring groups until each group's level is below that of the group before it. */
function pooled(groups: readonly Group[], targets: Targets, tree: TierTree): Group[] {
  const pools: Group[] = [];
  for (const group of groups) {
    let pool = group;
    for (let last = pools.at(-1); last !== undefined; last = pools.at(-1)) {
      if (isAbove(levelOf(last, targets, tree), levelOf(pool, targets, tree))) break;
      pools.pop();
      pool = { leaves: [...last.leaves, ...pool.leaves], slots: last.slots + pool.slots };
    }
    pools.push(pool);
  }
  return pools;
}

function levelled({ tree, targets, ring }: PlacementProblem, groups: readonly Group[]): Targets {
  const exact = new Float64Array(tree.leaves);
  for (const group of groups) {
    const level = levelOf(group, targets, tree);
    for (const leaf of group.leaves) exact[leaf] = loadAt(targets, tree.firstLeaf + leaf, level);
  }
  const { low, high } = targets;
  const totals = { partitions: ring.partitions, slots: targets.exact[0]! };
  return { ...targetsOfLeaves(tree, exact, totals), low, high };
}

/** How full the leaves of a group are, in proportion to their targets. */
interface Level {
  /** See loadAt. Infinity: all leaves of the group have target 0, but they must hold slots. */
  readonly fullness: number;
  /** Slots of each leaf above its ceiling. */
  readonly beyond: number;
}

function isAbove(a: Level, b: Level): boolean {
  return a.fullness === b.fullness ? a.beyond > b.beyond : a.fullness > b.fullness;
}

/** Finds by bisection the level at which the group's leaves together hold its slots. */
function levelOf({ leaves, slots }: Group, targets: Targets, tree: TierTree): Level {
  const nodes = leaves.map((leaf) => tree.firstLeaf + leaf);
  const most = nodes.reduce((sum, node) => sum + targets.ceil[node]!, 0);
  // When a large device takes all that its tier may have, a small one beside it has no share.
  if (slots > most && nodes.every((node) => targets.exact[node] === 0)) {
    return { fullness: Infinity, beyond: (slots - most) / leaves.length };
  }
  let low = EMPTY;
  let high = 1;
  const sumAt = (fullness: number): number =>
    nodes.reduce((sum, node) => sum + loadAt(targets, node, { fullness, beyond: 0 }), 0);
  while (sumAt(high) < slots) high *= 2;
  for (let step = 0; step < BISECTIONS; step += 1) {
    const middle = (low + high) / 2;
    if (sumAt(middle) < slots) low = middle;
    else high = middle;
  }
  return { fullness: high, beyond: 0 };
}

const EMPTY = -1;
const BISECTIONS = 60;

/**
 * Returns what a leaf holds at a level: nothing at -1, the floor of its share at 0, the share at
 * 1/2, the ceiling at 1, and proportionally more above. So no leaf leaves its floor and ceiling
 * before all leaves of the group must.
 */
function loadAt(
  { exact, floor, ceil }: Targets,
  node: number,
  { fullness, beyond }: Level,
): number {
  const [least, share, most] = [floor[node]!, exact[node]!, ceil[node]!];
  if (fullness === Infinity) return most + beyond;
  if (fullness <= 0) return least * (fullness - EMPTY);
  if (fullness >= 1) return most + (fullness - 1) * share;
  return fullness < 1 / 2
    ? least + 2 * fullness * (share - least)
    : share + (2 * fullness - 1) * (most - share);
}

function leavesOf(tree: TierTree): number[] {
  return Array.from({ length: tree.leaves }, (_, leaf) => leaf);
}
