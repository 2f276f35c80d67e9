// Which sets of leaves one partition may have: bounds on every node, as a matroid. Pure.
// The need of a node is the larger of its lower bound and the sum of its children's needs. A set
// can be completed to a legal one when every need is within the upper bound. A leaf changes one
// path of needs.
import { assert } from '@ringwright/base/assert';
import type { TierTree } from '../state/tier-tree.ts';
import type { HeldLeaves } from './held-devices.ts';
import { type NodeRules, needsOf, type OwnRules, ownRules, switchBounds } from './own-rules.ts';
import type { Targets } from './targets.ts';

/** Scratch for one partition at a time. Callers restore it by removing what they added. */
export interface SlotRules extends NodeRules {
  readonly firstLeaf: number;
  /** By node: 1 for a leaf that gets no new slots. */
  readonly closed: Uint8Array;
  /** By node: 0 and 1 everywhere, for searches without a preference. */
  readonly zeros: Int32Array;
  readonly ones: Int32Array;
  /** Null when all partitions have the same bounds. */
  readonly own: OwnRules | null;
}

export function createRules(
  tree: TierTree,
  targets: Targets,
  held: HeldLeaves | null = null,
): SlotRules {
  const { need, sum, bound } = needsOf(tree.parent, targets.low);
  const closed = new Uint8Array(tree.nodes);
  if (held !== null) closed.set(held.closed, tree.firstLeaf);
  return {
    parent: tree.parent,
    firstLeaf: tree.firstLeaf,
    low: Int32Array.from(need).fill(0, 0, 1),
    high: Int32Array.from(targets.high),
    need,
    sum,
    bound,
    closed,
    zeros: new Int32Array(tree.nodes),
    ones: new Int32Array(tree.nodes).fill(1),
    own: ownRules(targets),
  };
}

/** Prepares the rules for a partition and its number of replicas. The rules must hold no leaves. */
export function startPartition(rules: SlotRules, partition: number, replicas: number): void {
  if (rules.own !== null) switchBounds(rules, rules.own, partition);
  rules.high[0] = replicas;
}

/** Whether one more replica fits below `v`, as far as `v` and the nodes above it are concerned. */
export function hasRoom(rules: SlotRules, v: number): boolean {
  const { parent, need, sum, high } = rules;
  for (let u = v; ; u = parent[u]!) {
    if (sum[u]! < need[u]!) return true;
    if (need[u]! >= high[u]!) return false;
    if (u === 0) return true;
  }
}

/** Adds a leaf if the set stays completable, and returns whether it did. */
export function addLeaf(rules: SlotRules, leaf: number): boolean {
  if (!hasRoom(rules, rules.firstLeaf + leaf)) return false;
  const { parent, need, sum } = rules;
  for (let u = rules.firstLeaf + leaf; ; u = parent[u]!) {
    sum[u]! += 1;
    if (sum[u]! <= need[u]!) return true;
    need[u]! += 1;
    if (u === 0) return true;
  }
}

/** Removes a leaf that was added. */
export function removeLeaf(rules: SlotRules, leaf: number): void {
  const { parent, low, need, sum } = rules;
  assert(sum[rules.firstLeaf + leaf]! > 0, 'only a leaf that was added is removed');
  for (let u = rules.firstLeaf + leaf; ; u = parent[u]!) {
    sum[u]! -= 1;
    if (need[u]! <= low[u]! || need[u]! <= sum[u]!) return;
    need[u]! -= 1;
    if (u === 0) return;
  }
}
