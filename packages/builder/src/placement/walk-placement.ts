// Placement by tokens: the first devices whose tokens lie clockwise from a partition's end. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { intervalsOf } from '@ringwright/ring/partitioner/intervals-of';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { tokenOwners } from '../state/token-rules.ts';
import { emptyPlacement, type Placement } from './placement.ts';

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

function requireTokens({ devices }: BuilderState, tree: TierTree): void {
  for (const id of tree.deviceIds) {
    if ((devices[id]?.tokens?.length ?? 0) > 0) continue;
    throw new CodedError('PLACED_BY_TOKENS', `device d${id} has no token`, {
      hint: 'add devices with ring-builder add, which gives them tokens',
      details: { device: id },
    });
  }
}
