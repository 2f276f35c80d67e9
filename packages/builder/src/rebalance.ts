// From the present table to one in which every node has its quota, in few moves. Pure.
import { seededRandom } from '@ringwright/base/random';
import { createBalance } from './balance.ts';
import { moveDirectly } from './direct-moves.ts';
import { countPairs, emptyPairCounts } from './pair-counts.ts';
import { loadsOf, type Placement } from './placement.ts';
import { computeQuotas } from './quotas.ts';
import type { RebalanceWork } from './rebalance-work.ts';
import { repairPartitions } from './repair-partitions.ts';
import { createRules } from './slot-rules.ts';
import type { Targets } from './targets.ts';
import type { TierTree } from './tier-tree.ts';

const SEED = 0x4d_4f_56_45;
/** Above this many leaves the pair matrix costs more time than the moves themselves. */
const PAIR_LEAVES_MAX = 4_096;

export interface RebalanceInput {
  readonly tree: TierTree;
  /** What loads shall become, and the bounds of each partition. */
  readonly targets: Targets;
  readonly before: Placement;
  readonly frozen: Uint8Array | null;
  readonly forced: Uint8Array | null;
}

/** The placement wanted in the end, without the limit of one slot of a partition per version. */
export function rebalance(input: RebalanceInput): Placement {
  const { tree, targets, before, frozen, forced } = input;
  const placement: Placement = { ...before, leaf: before.leaf.slice() };
  const loads = loadsOf(placement, tree);
  const quotas = computeQuotas(tree, targets, loads);
  const pairs =
    tree.leaves <= PAIR_LEAVES_MAX && needsMoves(tree, loads, quotas)
      ? emptyPairCounts(quotas.subarray(tree.firstLeaf))
      : null;
  if (pairs !== null) countPairs(pairs, placement);
  const work: RebalanceWork = {
    tree,
    rules: createRules(tree, targets),
    random: seededRandom(SEED),
    before,
    placement,
    balance: createBalance(tree, loads, quotas),
    frozen,
    forced,
    pairs,
  };
  repairPartitions(work);
  const again = computeQuotas(tree, targets, loads);
  moveDirectly({ ...work, balance: createBalance(tree, loads, again) });
  return placement;
}

function needsMoves(tree: TierTree, loads: Int32Array, quotas: Int32Array): boolean {
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) if (loads[v] !== quotas[v]) return true;
  return false;
}
