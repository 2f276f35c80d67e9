// Which new leaf comes first where a slot must move now: one that is not lifted by it. Pure.
// A partition that lost a device, or gets a slot more, may have other moves as well, which wait.
// Any new leaf can take its urgent slot: a flow from leaves with too many to leaves with room.
import type { Placement } from '../place/placement.ts';
import { replicasOf } from '../place/rebalance-work.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { countMisfits, movingSlots, type WaveLimits } from './waves.ts';

interface UrgentLimits extends WaveLimits {
  readonly tree: TierTree;
  /** By device id: slots it may get beyond those it gives. */
  readonly room: Int32Array;
}

interface Order {
  readonly before: Placement;
  /** Changed in place: the sets of leaves stay, slots that move exchange theirs. */
  readonly wanted: Placement;
  readonly limits: UrgentLimits;
  /** By leaf: urgent slots beyond its room. */
  readonly excess: Int32Array;
  /** By leaf: exchanges from it to a leaf with room, at least. */
  readonly distance: Int32Array;
}

const FAR = 2 ** 30;

/** Exchanges new leaves between urgent and other moving slots, until no exchange helps. */
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

/** Distances by Bellman and Ford: from the leaves with room back along the exchanges. */
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

/** Makes the first exchange of the partition that takes a slot from a leaf with too many. */
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
  /** An urgent slot and one that waits, and the leaves they shall have now. */
  readonly slot: number;
  readonly other: number;
  readonly from: number;
  readonly to: number;
}

/** Those that leave no more replicas outside their bounds until the others follow. */
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
