// Bytes by device while slots change devices: the slots of each device in order of size. Pure.
import { firstWhere } from '@ringwright/ring/first-where';
import type { HeldLeaves } from '../placement/held-devices.ts';
import { loadsOf, type Placement } from '../placement/placement.ts';
import {
  enterPartition,
  hadLeaf,
  leavePartition,
  replicasOf,
} from '../placement/rebalance-work.ts';
import { createRules, type SlotRules } from '../placement/slot-rules.ts';
import type { Targets } from '../placement/targets.ts';
import type { TierTree } from '../state/tier-tree.ts';

export interface ByteProblem {
  readonly tree: TierTree;
  readonly targets: Targets;
  /** The placement from which moves are counted. */
  readonly before: Placement;
  /** By partition: 1 when it may not change; null when all may. */
  readonly frozen: Uint8Array | null;
  readonly held: HeldLeaves | null;
  /** By partition, in any unit. */
  readonly bytes: Uint16Array;
}

export interface ByteLoads extends ByteProblem {
  /** Changed in place. */
  readonly placement: Placement;
  readonly rules: SlotRules;
  /** By node: slots. */
  readonly loads: Int32Array;
  /** By leaf: bytes held, and its share in slots; 0 for a leaf that takes no part. */
  readonly sums: Float64Array;
  readonly shares: Float64Array;
  /** By leaf: its slots, smallest partition first, and those of them that move. */
  readonly slots: readonly number[][];
  readonly moved: readonly number[][];
  /** By partition: its rank by size, and how many of its slots move. */
  readonly rank: Int32Array;
  readonly moves: Uint8Array;
}

export function byteLoads(wanted: Placement, problem: ByteProblem): ByteLoads {
  const { tree, targets, held, bytes } = problem;
  const placement = { ...wanted, leaf: wanted.leaf.slice() };
  const bySize = Int32Array.from(bytes.keys()).sort((a, b) => bytes[a]! - bytes[b]! || a - b);
  const rank = new Int32Array(bytes.length);
  bySize.forEach((partition, index) => {
    rank[partition] = index;
  });
  const loads: ByteLoads = {
    ...problem,
    placement,
    rules: createRules(tree, targets),
    loads: loadsOf(placement, tree),
    sums: new Float64Array(tree.leaves),
    shares: targets.exact.slice(tree.firstLeaf).map((share, i) => (held?.closed[i] ? 0 : share)),
    slots: Array.from({ length: tree.leaves }, () => []),
    moved: Array.from({ length: tree.leaves }, () => []),
    rank,
    moves: new Uint8Array(bytes.length),
  };
  for (const partition of bySize) {
    const start = partition * placement.width;
    for (let slot = start; slot < start + replicasOf(placement, partition); slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf === placement.none) continue;
      loads.sums[leaf]! += bytes[partition]!;
      loads.slots[leaf]!.push(slot);
      if (hadLeaf(loads, partition, leaf)) continue;
      loads.moved[leaf]!.push(slot);
      loads.moves[partition]! += 1;
    }
  }
  return loads;
}

export function partitionOf({ placement }: ByteLoads, slot: number): number {
  return Math.floor(slot / placement.width);
}

/** Returns the change in the number of moves when the slot goes to the leaf: -1, 0 or 1. */
export function costOf(loads: ByteLoads, slot: number, to: number): number {
  const partition = partitionOf(loads, slot);
  const from = loads.placement.leaf[slot]!;
  return Number(hadLeaf(loads, partition, from)) - Number(hadLeaf(loads, partition, to));
}

/** Whether the partition may have `to` in place of the slot's leaf, with at most one move. */
export function mayHave(loads: ByteLoads, slot: number, to: number): boolean {
  const { before, placement, frozen, moves } = loads;
  const partition = partitionOf(loads, slot);
  const from = placement.leaf[slot]!;
  // An heir keeps the slots that it takes over.
  if (frozen?.[partition] === 1 || before.heirs?.get(slot) === from) return false;
  if (costOf(loads, slot, to) > 0 && moves[partition]! > 0) return false;
  placement.leaf[slot] = to;
  const legal = enterPartition(loads, partition);
  if (legal) leavePartition(loads, partition);
  placement.leaf[slot] = from;
  return legal;
}

export function giveSlot(loads: ByteLoads, slot: number, to: number): void {
  const { placement, tree, sums, bytes, moves } = loads;
  const partition = partitionOf(loads, slot);
  const from = placement.leaf[slot]!;
  moves[partition]! += costOf(loads, slot, to);
  for (const [leaf, by] of [[from, -1] as const, [to, 1] as const]) {
    sums[leaf]! += by * bytes[partition]!;
    for (let v = tree.firstLeaf + leaf; v > 0; v = tree.parent[v]!) loads.loads[v]! += by;
    listSlot(loads, loads.slots[leaf]!, { slot, by });
    if (!hadLeaf(loads, partition, leaf)) listSlot(loads, loads.moved[leaf]!, { slot, by });
  }
  placement.leaf[slot] = to;
}

function listSlot(
  loads: ByteLoads,
  list: number[],
  { slot, by }: { readonly slot: number; readonly by: 1 | -1 },
): void {
  const rankOf = (one: number): number => loads.rank[partitionOf(loads, one)]!;
  const position = firstWhere(list.length, (index) => rankOf(list[index]!) >= rankOf(slot));
  if (by === 1) list.splice(position, 0, slot);
  else list.splice(position, 1);
}
