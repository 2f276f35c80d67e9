// The residual graph of the min-cost flow of a rebalance, on leaves instead of 10^9 arcs. Pure.
// An arc e -> d lets one partition replace e by d. It costs 1 when d is new to the partition, and
// saves 1 when e was new. Rounding arcs of cost 0 move a unit of quota between leaves.
import type { RebalanceWork } from '../placement/rebalance-work.ts';
import { replicasOf, slotOf } from '../placement/rebalance-work.ts';
import type { Targets } from '../placement/targets.ts';

/** A label is cost * COST + hops: shortest paths by cost, then by number of arcs. */
export const COST = 2 ** 20;
export const UNREACHED = 2 ** 30;

export interface FlowGraph {
  readonly work: RebalanceWork;
  readonly targets: Targets;
  /** The partitions whose arcs count. */
  readonly partitions: Int32Array;
  /** By node: the label of a leaf; of an inner node the largest label below it. */
  readonly labels: Int32Array;
  /** The search ignores more expensive paths. */
  readonly costMax: number;
}

export function createFlowGraph(
  work: RebalanceWork,
  targets: Targets,
  scope: { readonly partitions: Int32Array; readonly costMax: number },
): FlowGraph {
  return { work, targets, ...scope, labels: new Int32Array(work.tree.nodes) };
}

/** Returns the leaves that the partition had and lost: arcs to them cost nothing. */
export function droppedLeaves(
  work: Pick<RebalanceWork, 'before' | 'placement'>,
  partition: number,
): readonly number[] {
  const { before, placement } = work;
  const start = partition * before.width;
  const end = start + replicasOf(before, partition);
  let dropped: number[] | undefined;
  for (let slot = start; slot < end; slot += 1) {
    const leaf = before.leaf[slot]!;
    if (leaf === before.none || leaf === placement.leaf[slot]) continue;
    if (slotOf(placement, partition, leaf) >= 0) continue;
    dropped ??= [];
    dropped.push(leaf);
  }
  return dropped ?? NOTHING;
}

const NOTHING: readonly number[] = [];
