// Chooses the new leaf of a slot that must move now so that no device is overfilled for a while.
// Pure.
// A partition that lost a device or gets one more slot may have other moves, which wait. Any of its
// new leaves can take the urgent slot: a flow from leaves with an excess to leaves with room.
import type { Placement } from '../placement/placement.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { countMisfits, movingSlots, type WaveLimits } from './waves.ts';

interface UrgentLimits extends WaveLimits {
  readonly tree: TierTree;
  /** By device id: slots that it may gain beyond those that it gives away. */
  readonly room: Int32Array;
}

interface Order {
  readonly before: Placement;
  /** Changed in place: each partition keeps its set of leaves, but moving slots exchange theirs. */
  readonly wanted: Placement;
  readonly limits: UrgentLimits;
  /** By leaf: urgent slots beyond its room. */
  readonly excess: Int32Array;
  /** By leaf: the minimum number of exchanges to a leaf with room. */
  readonly distance: Int32Array;
}

const FAR = 2 ** 30;

/** Exchanges new leaves between urgent and other moving slots until no exchange helps. */
export function orderUrgent(before: Placement, wanted: Placement, limits: UrgentLimits): void {
  if (limits.forced === null) return;
  const { deviceIds } = limits.tree;
  const excess = Int32Array.from(deviceIds, (id) => -limits.room[id]!);
  const open: number[] = [];
  for (let partition = 0; partition < wanted.partitions; partition += 1) {
    const moving = movingSlots(before, wanted, partition);
    const urgent = moving.filter((slot) => limits.forced?.[slot] === 1);
    for (const slot of urgent) excess[wanted.leaf[slot]!]! += 1;
    if (urgent.length > 0 && urgent.length < moving.length) open.push(partition);
  }
  const distance = new Int32Array(deviceIds.length);
  const order: Order = { before, wanted, limits, excess, distance };
  while (excess.some((slots) => slots > 0)) {
    measure(order, open);
    let exchanged = false;
    for (const partition of open) if (relieve(order, partition)) exchanged = true;
    if (!exchanged) return;
  }
}

/** Computes distances by Bellman and Ford, from the leaves with room back along the exchanges. */
function measure(order: Order, open: readonly number[]): void {
  const { excess, distance } = order;
  excess.forEach((slots, leaf) => {
    distance[leaf] = slots < 0 ? 0 : FAR;
  });
  for (let changed = true; changed; ) {
    changed = false;
    for (const partition of open) {
      for (const { from, to } of exchanges(order, partition)) {
        if (distance[to]! + 1 >= distance[from]!) continue;
        distance[from] = distance[to]! + 1;
        changed = true;
      }
    }
  }
}

/** Makes the partition's first exchange that takes a slot from a leaf with an excess. */
function relieve(order: Order, partition: number): boolean {
  const { excess, distance, wanted } = order;
  for (const { slot, other, from, to } of exchanges(order, partition)) {
    if (excess[from]! <= 0 || distance[to]! >= distance[from]!) continue;
    wanted.leaf[slot] = to;
    wanted.leaf[other] = from;
    excess[from]! -= 1;
    excess[to]! += 1;
    return true;
  }
  return false;
}

interface Exchange {
  /** An urgent slot and a waiting slot, and their present wanted leaves. */
  readonly slot: number;
  readonly other: number;
  readonly from: number;
  readonly to: number;
}

/** Yields the exchanges that put no more replicas out of bounds until the other moves follow. */
function* exchanges(order: Order, partition: number): Generator<Exchange> {
  const { before, wanted, limits } = order;
  const moving = movingSlots(before, wanted, partition);
  const urgent = moving.filter((slot) => limits.forced?.[slot] === 1);
  const start = partition * before.width;
  const leaves = [...before.leaf.subarray(start, start + replicasOf(wanted, partition))];
  for (const slot of urgent) leaves[slot - start] = wanted.leaf[slot]!;
  const misfits = countMisfits(limits.rules, partition, leaves);
  for (const slot of urgent) {
    for (const other of moving) {
      if (limits.forced?.[other] === 1) continue;
      const [from, to] = [wanted.leaf[slot]!, wanted.leaf[other]!];
      const changed = leaves.with(slot - start, to);
      if (countMisfits(limits.rules, partition, changed) > misfits) continue;
      yield { slot, other, from, to };
    }
  }
}
