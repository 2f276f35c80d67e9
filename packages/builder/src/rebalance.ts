// From the present table to one in which every node has its quota, in few moves. Pure.
import { seededRandom } from '@ringwright/base/random';
import { createBalance } from './balance.ts';
import type { Pin } from './builder-state.ts';
import { dropReplicas, reshaped } from './change-replicas.ts';
import { moveDirectly } from './direct-moves.ts';
import { runExactFlow } from './exact-flow.ts';
import type { HeldLeaves } from './held-devices.ts';
import { countPairs, emptyPairCounts } from './pair-counts.ts';
import { applyPins } from './pins.ts';
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
  /** Replicas wanted; `before` may have more or fewer, and must be wide enough for both. */
  readonly replicas: number;
  readonly frozen: Uint8Array | null;
  readonly held?: HeldLeaves | null;
  readonly pins?: readonly Pin[];
  readonly forced: Uint8Array | null;
}

/** The placement wanted in the end, without the limit of one slot of a partition per version. */
export function rebalance(input: RebalanceInput): Placement {
  const { tree, targets, before, frozen, forced } = input;
  const placement = reshaped(before, input.replicas);
  const loads = loadsOf(placement, tree);
  const quotas = computeQuotas(tree, targets, loads);
  const pairs =
    tree.leaves <= PAIR_LEAVES_MAX && needsMoves(tree, loads, quotas)
      ? emptyPairCounts(quotas.subarray(tree.firstLeaf))
      : null;
  if (pairs !== null) countPairs(pairs, placement);
  const { held = null, pins = [] } = input;
  const unpinned: RebalanceWork = {
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
  if (placement.slots < before.slots) dropReplicas(unpinned);
  const work = applyPins(unpinned, pins);
  repairPartitions(work);
  const rerouted = {
    ...work,
    balance: createBalance(tree, loads, computeQuotas(tree, targets, loads)),
  };
  runExactFlow(rerouted, targets, { partitions: () => changedPartitions(work), costMax: 0 });
  const direct = { ...work, balance: createBalance(tree, loads, rerouted.balance.quotas) };
  moveDirectly(direct);
  const costMax = Number.MAX_SAFE_INTEGER;
  runExactFlow(direct, targets, { partitions: () => unfrozenPartitions(work), costMax });
  return placement;
}

/**
 * Partitions in which slots can be rerouted at no cost. Where replicas had to leave for legality
 * they may come back, which can pay for a move in any partition: then these are all partitions.
 */
function changedPartitions(work: RebalanceWork): Int32Array {
  const { before, placement, frozen } = work;
  const changed = new Set<number>();
  for (let slot = 0; slot < placement.leaf.length; slot += 1) {
    if (placement.leaf[slot] === before.leaf[slot]) continue;
    const partition = Math.floor(slot / placement.width);
    if (frozen?.[partition] === 1) continue;
    if (before.leaf[slot] !== before.none) return unfrozenPartitions(work);
    changed.add(partition);
  }
  return Int32Array.from(changed);
}

function unfrozenPartitions({ placement, frozen }: RebalanceWork): Int32Array {
  const all = new Int32Array(placement.partitions);
  for (let partition = 0; partition < all.length; partition += 1) all[partition] = partition;
  return frozen === null ? all : all.filter((partition) => frozen[partition] === 0);
}

function needsMoves(tree: TierTree, loads: Int32Array, quotas: Int32Array): boolean {
  for (let v = tree.firstLeaf; v < tree.nodes; v += 1) if (loads[v] !== quotas[v]) return true;
  return false;
}
