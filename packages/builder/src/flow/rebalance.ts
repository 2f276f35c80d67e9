// Turns the present table into one in which every node has its quota, in few moves. Pure.
import { seededRandom } from '@ringwright/base/random';
import { createBalance } from '../placement/balance.ts';
import { dropReplicas, reshaped } from '../placement/change-replicas.ts';
import type { HeldLeaves } from '../placement/held-devices.ts';
import { countPairs, emptyPairCounts } from '../placement/pair-counts.ts';
import { giveToHeirs, loadsOf, type Placement } from '../placement/placement.ts';
import { computeQuotas } from '../placement/quotas.ts';
import type { RebalanceWork } from '../placement/rebalance-work.ts';
import { repairPartitions } from '../placement/repair-partitions.ts';
import { createRules } from '../placement/slot-rules.ts';
import type { Targets } from '../placement/targets.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { moveDirectly } from './direct-moves.ts';
import { createFlowGraph, UNREACHED } from './flow-graph.ts';
import { labelLeaves, nearestCost } from './flow-labels.ts';
import { augmentPaths } from './flow-paths.ts';

const SEED = 0x4d_4f_56_45;
/** Above this many leaves, the pair matrix takes more time than the moves themselves. */
const PAIR_LEAVES_MAX = 4_096;

interface RebalanceInput {
  readonly tree: TierTree;
  /** The wanted loads, and the bounds of each partition. */
  readonly targets: Targets;
  readonly before: Placement;
  /** Wanted replicas; `before` may have more or fewer, and must be wide enough for both. */
  readonly replicas: number;
  readonly frozen: Uint8Array | null;
  readonly held?: HeldLeaves | null;
  readonly forced: Uint8Array | null;
}

/** Returns the final placement, without the limit of one slot per partition and version. */
export function rebalance(input: RebalanceInput): Placement {
  return solved(input).placement;
}

/** Like rebalance; also marks leaves with 1 whose targets no table within the bounds meets. */
export function rebalanceOrCut(input: RebalanceInput): {
  readonly placement: Placement;
  /** Null when every leaf has a quota within its targets. */
  readonly overfull: Uint8Array | null;
} {
  const work = solved(input);
  const scope = { partitions: openPartitions(work), costMax: Number.MAX_SAFE_INTEGER };
  const overfull = overfullLeaves(work, input.targets, scope);
  return { placement: work.placement, overfull };
}

function solved(input: RebalanceInput): RebalanceWork {
  const { tree, targets, before, frozen, forced } = input;
  const placement = reshaped(before, input.replicas);
  giveToHeirs(placement);
  const loads = loadsOf(placement, tree);
  const quotas = computeQuotas(tree, targets, loads);
  const pairs =
    tree.leaves <= PAIR_LEAVES_MAX && needsMoves(tree, loads, quotas)
      ? emptyPairCounts(quotas.subarray(tree.firstLeaf))
      : null;
  if (pairs !== null) countPairs(pairs, placement);
  const { held = null } = input;
  const work: RebalanceWork = {
    tree,
    rules: createRules(tree, targets, held),
    random: seededRandom(SEED),
    before,
    placement,
    balance: createBalance(tree, loads, quotas),
    frozen,
    forced,
    kept: held?.kept ?? null,
    pairs,
  };
  if (placement.slots < before.slots) dropReplicas(work);
  repairPartitions(work);
  const rerouted = {
    ...work,
    balance: createBalance(tree, loads, computeQuotas(tree, targets, loads)),
  };
  runExactFlow(rerouted, targets, { partitions: () => changedPartitions(work), costMax: 0 });
  const direct = { ...work, balance: createBalance(tree, loads, rerouted.balance.quotas) };
  moveDirectly(direct);
  const costMax = Number.MAX_SAFE_INTEGER;
  runExactFlow(direct, targets, { partitions: () => openPartitions(work), costMax });
  return direct;
}

/**
 * Returns the partitions in which slots can be rerouted at no cost. A replica that was moved for
 * legality may return, which can pay for a move in any partition; then these are all partitions.
 * Pins are the exception: a replica that leaves because of a pin never returns.
 */
function changedPartitions(work: RebalanceWork): Int32Array {
  const { before, placement } = work;
  const changed = new Set<number>();
  for (let slot = 0; slot < placement.leaf.length; slot += 1) {
    if (placement.leaf[slot] === before.leaf[slot]) continue;
    const partition = Math.floor(slot / placement.width);
    const pinned = work.rules.own?.bounds.has(partition) === true;
    if (before.leaf[slot] !== before.none && !pinned) return openPartitions(work);
    changed.add(partition);
  }
  return Int32Array.from(changed);
}

/** Returns the partitions that may change, and the frozen ones that had to change. */
function openPartitions({ placement, before, frozen }: RebalanceWork): Int32Array {
  const all = Int32Array.from({ length: placement.partitions }, (_, partition) => partition);
  if (frozen === null) return all;
  const { leaf, width } = placement;
  return all.filter((partition) => {
    if (frozen[partition] === 0) return true;
    const slots = leaf.subarray(partition * width, (partition + 1) * width);
    return slots.some((one, replica) => one !== before.leaf[partition * width + replica]);
  });
}

function needsMoves(tree: TierTree, loads: Int32Array, quotas: Int32Array): boolean {
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) if (loads[v] !== quotas[v]) return true;
  return false;
}

/**
 * Augments along shortest paths of at most `costMax` new replicas each. This may round quotas in
 * the balance differently, so the caller must recompute `missing`.
 */
function runExactFlow(
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
function overfullLeaves(
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
