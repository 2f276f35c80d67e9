// Finds a leaf for one more replica by a random walk down the tree, in proportion to demand. Pure.
import type { Random } from '@ringwright/base/random';
import type { TierTree } from '../state/tier-tree.ts';
import type { SlotRules } from './slot-rules.ts';
import { hasRoom } from './slot-rules.ts';

export interface LeafSearch {
  readonly tree: TierTree;
  readonly rules: SlotRules;
  readonly random: Random;
}

/**
 * By node, `plus - minus` is the demand below it. Nodes without positive demand are not entered.
 * These are two arrays because a function would be called for every child on the way down, and not
 * inlined.
 */
export interface Wanted {
  readonly plus: Int32Array;
  readonly minus: Int32Array;
}

/** Returns a leaf below `v` that the partition in `rules` may get and that is wanted, or -1. */
export function findLeaf(search: LeafSearch, v: number, wanted: Wanted): number {
  const open = hasRoom(search.rules, v) ? 1 : 0;
  const node = descend(search, wanted, v * 2 + open);
  return node < 0 ? -1 : node - search.tree.firstLeaf;
}

/** `at` is twice the node number, plus one when the nodes above have room. */
function descend(search: LeafSearch, wanted: Wanted, at: number): number {
  const v = at >> 1;
  const { tree } = search;
  const { plus, minus } = wanted;
  if (v >= tree.firstLeaf) return (at & 1) === 1 ? v : -1;
  const first = tree.firstChild[v]!;
  const end = first + tree.childCount[v]!;
  let total = 0;
  for (let u = first; u < end; u += 1) {
    const want = plus[u]! - minus[u]!;
    if (want > 0 && enter(search.rules, u, at & 1) >= 0) total += want;
  }
  if (total === 0) return -1;
  let draw = search.random.below(total);
  let drawn = first;
  for (; drawn < end; drawn += 1) {
    const want = plus[drawn]! - minus[drawn]!;
    if (want <= 0 || enter(search.rules, drawn, at & 1) < 0) continue;
    if (draw < want) break;
    draw -= want;
  }
  const found = descend(search, wanted, drawn * 2 + enter(search.rules, drawn, at & 1));
  if (found >= 0) return found;
  for (let u = first; u < end; u += 1) {
    if (u === drawn || plus[u]! <= minus[u]!) continue;
    const open = enter(search.rules, u, at & 1);
    if (open < 0) continue;
    const other = descend(search, wanted, u * 2 + open);
    if (other >= 0) return other;
  }
  return -1;
}

/** Returns 1 when the child has room, 0 when only a lower bound below it may have room, else -1. */
function enter(rules: SlotRules, u: number, openAbove: number): number {
  if (rules.closed[u] === 1) return -1;
  if (rules.sum[u]! < rules.need[u]!) return 1;
  if (openAbove === 1 && rules.need[u]! < rules.high[u]!) return 1;
  return u < rules.firstLeaf && rules.bound[u] === 1 ? 0 : -1;
}
