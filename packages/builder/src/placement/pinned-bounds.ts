// Bounds of single partitions with pins: as near to the common bounds as the pins permit. Pure.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { partitionCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { BuilderState, Pin } from '../state/builder-state.ts';
import { namedPartition } from '../state/named-partition.ts';
import { LEAF_LEVEL, type TierTree } from '../state/tier-tree.ts';
import { shapeOf } from './placement.ts';
import { replicasOf } from './rebalance-work.ts';
import type { Bounds, PartitionBounds } from './targets.ts';
import { leastCost, rangesOfLeast, treeCosts } from './tree-program.ts';

/** All violations in one tier together weigh less than a single one in the tier above. */
const TIER_WEIGHT = 4_096;

/**
 * Returns bounds by partition. The sets of leaves within them are exactly those that keep the pin
 * and violate the common bounds least: first those of regions, then zones, servers and devices. A
 * larger violation at one node weighs more. Such bounds exist by complementary slackness: the best
 * flows of a convex cost on a tree are those with every arc in an interval.
 * A device without share cannot be pinned. Throws PIN_INVALID when no set keeps the pin.
 */
export function pinnedBounds(
  tree: TierTree,
  common: Bounds,
  state: BuilderState,
): ReadonlyMap<number, PartitionBounds> {
  const partitions = partitionCountOf(state.partitioner);
  const shape = shapeOf({ partitions, replicas: state.replicas });
  const bounds = new Map<number, PartitionBounds>();
  for (const pin of state.pins ?? []) {
    const { partition } = pin;
    if (partition >= partitions) continue;
    const replicas = replicasOf(shape, partition);
    const id = namedPartition(state, partition);
    bounds.set(partition, boundsOfPin(tree, common, { ring: state.ring, id, pin, replicas }));
  }
  return bounds;
}

interface PinnedCount {
  readonly ring: string;
  /** The pinned partition in messages. */
  readonly id: number;
  readonly pin: Pin;
  readonly replicas: number;
}

function boundsOfPin(tree: TierTree, common: Bounds, pinnedCount: PinnedCount): PartitionBounds {
  const pinned = pinnedLeaves(tree, pinnedCount.pin);
  const fixed = withLeaves(tree, common, pinned);
  if (isFeasible(tree, fixed, pinnedCount.replicas)) return differing(common, fixed, true);
  const { low, high } = nearestBounds(tree, common, { ...pinnedCount, pinned });
  // A leaf that is neither pinned nor in every partition gets its common bounds back: the bounds of
  // its domains suffice. But a leaf whose share is below one slot keeps the new bounds, because it
  // may be needed where others are pinned off.
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) {
    if (pinned.has(v) || common.low[v]! > 0 || common.high[v] === 0) continue;
    low[v] = common.low[v]!;
    high[v] = common.high[v]!;
  }
  return differing(common, { low, high }, false);
}

/** Returns by pinned leaf node the number of replicas it must have: one or none. */
function pinnedLeaves(tree: TierTree, { on, off }: Pin): ReadonlyMap<number, number> {
  const counts = [...on.map((id) => [id, 1] as const), ...off.map((id) => [id, 0] as const)];
  const known = counts.filter(([id]) => (tree.leafOfDevice[id] ?? -1) >= 0);
  return new Map(known.map(([id, count]) => [tree.firstLeaf + tree.leafOfDevice[id]!, count]));
}

/** Returns the common bounds with the pinned leaves fixed, and the lower bounds above raised. */
function withLeaves(tree: TierTree, common: Bounds, pinned: ReadonlyMap<number, number>): Bounds {
  const fixed = { low: common.low.slice(), high: common.high.slice() };
  for (const [leaf, count] of pinned) {
    fixed.low[leaf] = count;
    fixed.high[leaf] = count;
  }
  const needed = new Int32Array(tree.nodes);
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    fixed.low[v] = Math.max(fixed.low[v]!, needed[v]!);
    needed[tree.parent[v]!]! += fixed.low[v]!;
  }
  return fixed;
}

/** Whether a set of `replicas` leaves is within the bounds. Each low includes the lows below it. */
function isFeasible(tree: TierTree, { low, high }: Bounds, replicas: number): boolean {
  const capacity = new Int32Array(tree.nodes);
  let needed = 0;
  for (let v = tree.nodes - 1; v > 0; v -= 1) {
    capacity[v] = v < tree.firstLeaf ? Math.min(high[v]!, capacity[v]!) : high[v]!;
    if (low[v]! > capacity[v]!) return false;
    capacity[tree.parent[v]!]! += capacity[v]!;
    if (tree.parent[v] === 0) needed += low[v]!;
  }
  return needed <= replicas && replicas <= capacity[0]!;
}

function nearestBounds(
  tree: TierTree,
  common: Bounds,
  {
    ring,
    id,
    pin,
    replicas,
    pinned,
  }: PinnedCount & { readonly pinned: ReadonlyMap<number, number> },
): Bounds {
  const costs = treeCosts(tree, replicas, (v, k) => {
    if (v === 0) return 0;
    if ((pinned.get(v) ?? k) !== k) return Infinity;
    const breach = Math.max(0, common.low[v]! - k, k - common.high[v]!);
    return ((breach * (breach + 1)) / 2) * TIER_WEIGHT ** (LEAF_LEVEL - tree.level[v]!);
  });
  if (leastCost(costs) < Infinity) return rangesOfLeast(costs);
  const { on, off } = pin;
  const pinTexts = [...on.map((id) => `on d${id}`), ...off.map((id) => `off d${id}`)].join(', ');
  throw new CodedError(
    'PIN_INVALID',
    `partition ${id} has ${counted(replicas, 'replica')} and ${counted(tree.leaves, 'device')} ` +
      `with weight: they cannot satisfy its pins (${pinTexts})`,
    {
      hint: `ring-builder unpin ${ring} ${id}, or change the pin`,
      details: { partition: id, replicas, devices: tree.leaves, on, off },
    },
  );
}

function differing(common: Bounds, own: Bounds, dispersed: boolean): PartitionBounds {
  const nodes = own.low
    .keys()
    .filter((v) => v > 0 && (own.low[v] !== common.low[v] || own.high[v] !== common.high[v]))
    .toArray();
  return {
    nodes: Int32Array.from(nodes),
    low: Uint8Array.from(nodes, (v) => own.low[v]!),
    high: Uint8Array.from(nodes, (v) => own.high[v]!),
    dispersed,
  };
}
