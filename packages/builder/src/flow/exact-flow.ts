// The exact phase of a rebalance: primal-dual min-cost flow until no surplus can move. Pure.

import type { RebalanceWork } from '../place/rebalance-work.ts';
import type { Targets } from '../place/targets.ts';
import { createFlowGraph, UNREACHED } from './flow-graph.ts';
import { labelLeaves, nearestCost } from './flow-labels.ts';
import { augmentPaths } from './flow-paths.ts';

/**
 * Augments along shortest paths of at most `costMax` new replicas each. This may round quotas in
 * the balance differently, so the caller must recompute `missing`.
 */
export function runExactFlow(
  work: RebalanceWork,
  targets: Targets,
  scope: { readonly partitions: () => Int32Array; readonly costMax: number },
): void {
  if (!isUnbalanced(work)) return;
  const { costMax } = scope;
  const partitions = scope.partitions();
  while (isUnbalanced(work)) {
    const graph = createFlowGraph(work, targets, { partitions, costMax });
    if (!labelLeaves(graph)) return;
    const nearest = nearestCost(graph);
    if (nearest > scope.costMax || augmentPaths(graph, nearest) === 0) return;
  }
}

/**
 * After a flow without limit: marks with 1, by leaf, where the remaining surplus can get. No table
 * and no rounding lets these leaves together hold less, or raises their quotas. Null without a
 * surplus.
 */
export function overfullLeaves(
  work: RebalanceWork,
  targets: Targets,
  scope: { readonly partitions: Int32Array; readonly costMax: number },
): Uint8Array | null {
  if (!isUnbalanced(work)) return null;
  const graph = createFlowGraph(work, targets, scope);
  labelLeaves(graph);
  const { firstLeaf } = work.tree;
  return Uint8Array.from(graph.labels.subarray(firstLeaf), (label) => (label < UNREACHED ? 1 : 0));
}

function isUnbalanced({ tree, balance }: RebalanceWork): boolean {
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) {
    if (balance.loads[v]! > balance.quotas[v]!) return true;
  }
  return false;
}
