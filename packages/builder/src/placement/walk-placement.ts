// Placement by tokens: the first devices whose tokens lie clockwise from a partition's end. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { tokenOwners } from '../state/token-rules.ts';
import { emptyPlacement, loadsOf, type Placement } from './placement.ts';
import type { PlacementProblem } from './placement-problem.ts';
import { targetsOfLeaves } from './targets.ts';

/** Computes all preference lists. Throws PLACED_BY_TOKENS for a device without tokens. */
export function walkPlacement(state: BuilderState, tree: TierTree, widthMin = 0): Placement {
  const { partitioner, replicas, devices } = state;
  requireTokens(state, tree);
  const partitions = partitioner.kind === 'hash-intervals' ? partitioner.partitions : 0;
  const placement = emptyPlacement({ partitions, replicas }, tree.leaves, widthMin);
  if (partitioner.kind !== 'hash-intervals') return placement;
  const circle = [...tokenOwners(devices)]
    .map(([token, device]) => ({ token, node: tree.leafOfDevice[device] ?? -1 }))
    .filter(({ node }) => node >= 0)
    .sort((a, b) => a.token - b.token);
  let at = 0;
  for (const { id, end } of intervalsOf(partitioner)) {
    // Ends ascend, and so do the first tokens at or after them.
    while (at < circle.length && circle[at]!.token < Number(end)) at += 1;
    placement.leaf.set(preferenceList(circle, at, replicas), id * placement.width);
  }
  return placement;
}

/** Returns the first distinct nodes on the circle, starting at index `from`. */
export function preferenceList(
  circle: readonly { readonly node: number }[],
  from: number,
  replicas: number,
): number[] {
  const list: number[] = [];
  for (let step = 0; step < circle.length && list.length < replicas; step += 1) {
    const { node } = circle[(from + step) % circle.length]!;
    if (!list.includes(node)) list.push(node);
  }
  return list;
}

/**
 * Returns the problem whose shares are the result of the walk, without bounds on tiers. Figures
 * then show how far a table is from the walk, and the walk itself puts no device above its share.
 */
export function walkProblem(state: BuilderState, problem: PlacementProblem): PlacementProblem {
  const { tree, ring } = problem;
  const placement = walkPlacement(state, tree);
  const leaves = Float64Array.from(loadsOf(placement, tree).subarray(tree.firstLeaf));
  const { partitions } = ring;
  const targets = targetsOfLeaves(tree, leaves, { partitions, slots: placement.slots });
  targets.low.fill(0);
  targets.high.fill(placement.most, 0, tree.firstLeaf).fill(1, tree.firstLeaf);
  const wanted = Float64Array.from(targets.exact, (slots) => slots / partitions);
  const caps = Int32Array.from(wanted, Math.ceil);
  return { ...problem, targets, shares: { ...problem.shares, wanted, caps } };
}

function requireTokens({ devices }: BuilderState, tree: TierTree): void {
  for (const id of tree.deviceIds) {
    if ((devices[id]?.tokens?.length ?? 0) > 0) continue;
    throw new CodedError('PLACED_BY_TOKENS', `device d${id} has no token`, {
      hint: 'add devices with ring-builder add, which gives them tokens',
      details: { device: id },
    });
  }
}
