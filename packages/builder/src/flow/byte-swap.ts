// Finds the best change of one slot that makes the devices hold bytes more evenly. Pure.
// Evenness is the sum of bytes * bytes / share over devices. It is least where bytes follow shares.
import { firstWhere } from '@ringwright/ring/first-where';
import { type ByteLoads, costOf, mayHave, partitionOf } from './byte-loads.ts';
import { droppedLeaves } from './flow-graph.ts';

/** Slots of a device that are tried as exchange partners: those nearest to the best size. */
const PARTNERS_MAX = 8;
/** Smaller gains may be rounding errors. */
const GAIN_MIN = 1e-6;

/** Gives the slot to `to`, and the slot `other` of that leaf, unless null, to the slot's leaf. */
export interface ByteSwap {
  readonly slot: number;
  readonly to: number;
  readonly other: number | null;
  /** Change in the number of moves. */
  readonly cost: number;
  /** Improvement of the evenness per additional move. */
  readonly gain: number;
}

interface Search {
  readonly loads: ByteLoads;
  readonly slot: number;
  /** Most moves that the change may cost. */
  readonly most: number;
}

/** Returns null when no legal change of this slot gains anything. */
export function bestSwap(loads: ByteLoads, slot: number, most: number): ByteSwap | null {
  const { shares, sums, placement } = loads;
  const from = placement.leaf[slot]!;
  if (from === placement.none || shares[from] === 0) return null;
  const search = { loads, slot, most };
  const dropped = droppedLeaves(loads, partitionOf(loads, slot));
  let best: ByteSwap | null = null;
  for (let to = 0; to < shares.length; to += 1) {
    if (to === from || shares[to] === 0) continue;
    const slope = sums[from]! / shares[from]! - sums[to]! / shares[to]!;
    const gainMax = slope ** 2 / (1 / shares[from]! + 1 / shares[to]!);
    if (gainMax <= (best?.gain ?? GAIN_MIN) || !mayHave(loads, slot, to)) continue;
    const any = dropped.includes(to) || most > 0;
    const found = [shiftTo(search, to), exchangeWith(search, to, any)];
    for (const one of found) if (one !== null && one.gain > (best?.gain ?? 0)) best = one;
  }
  return best;
}

/**
 * Gives the slot away without exchange. One leaf loses a slot and the other gains one, so both must
 * stay within floor and ceiling.
 */
function shiftTo(search: Search, to: number): ByteSwap | null {
  const { loads, slot } = search;
  const { tree, targets, placement, bytes } = loads;
  const from = tree.firstLeaf + placement.leaf[slot]!;
  const up = pathOf(loads, tree.firstLeaf + to);
  const down = pathOf(loads, from);
  const fits =
    up.every((v) => down.includes(v) || loads.loads[v]! < targets.ceil[v]!) &&
    down.every((v) => up.includes(v) || loads.loads[v]! > targets.floor[v]!);
  if (!fits) return null;
  const change = bytes[partitionOf(loads, slot)]!;
  return swapOf(search, { to, other: null, change, cost: costOf(loads, slot, to) });
}

function pathOf({ tree }: ByteLoads, leaf: number): number[] {
  const path: number[] = [];
  for (let v = leaf; v > 0; v = tree.parent[v]!) path.push(v);
  return path;
}

/** `any`: also considers partners that do not move, where it may cost moves or save one. */
function exchangeWith(search: Search, to: number, any: boolean): ByteSwap | null {
  const { loads, slot, most } = search;
  const { placement, bytes, shares, sums } = loads;
  const from = placement.leaf[slot]!;
  const list = (any ? loads.slots : loads.moved)[to]!;
  const size = bytes[partitionOf(loads, slot)]!;
  const slope = sums[from]! / shares[from]! - sums[to]! / shares[to]!;
  const idealSize = size - slope / (1 / shares[from]! + 1 / shares[to]!);
  let above = firstWhere(list.length, (index) => sizeAt(loads, list, index)! >= idealSize);
  let below = above - 1;
  const ownCost = costOf(loads, slot, to);
  for (let tries = 0; tries < PARTNERS_MAX; tries += 1) {
    const [over, under] = [sizeAt(loads, list, above), sizeAt(loads, list, below)];
    if (over === null && under === null) return null;
    const takeAbove = under === null || (over !== null && over - idealSize <= idealSize - under);
    const other = list[takeAbove ? above++ : below--]!;
    const cost = ownCost + costOf(loads, other, from);
    const partition = partitionOf(loads, other);
    if (partition === partitionOf(loads, slot) || cost > most) continue;
    const swap = swapOf(search, { to, other, change: size - bytes[partition]!, cost });
    if (swap !== null && mayHave(loads, other, from)) return swap;
  }
  return null;
}

function sizeAt(loads: ByteLoads, list: readonly number[], index: number): number | null {
  const slot = list[index];
  return slot === undefined ? null : loads.bytes[partitionOf(loads, slot)]!;
}

/** `change`: bytes that the slot's leaf gives to the other leaf. */
function swapOf(
  { loads, slot, most }: Search,
  swap: {
    readonly to: number;
    readonly other: number | null;
    readonly change: number;
    readonly cost: number;
  },
): ByteSwap | null {
  const { shares, sums, placement } = loads;
  const { to, other, change, cost } = swap;
  const from = placement.leaf[slot]!;
  const gain =
    (change * (2 * sums[from]! - change)) / shares[from]! -
    (change * (2 * sums[to]! + change)) / shares[to]!;
  if (cost > most || gain <= GAIN_MIN) return null;
  return { slot, to, other, cost, gain: gain / Math.max(1, cost) };
}
