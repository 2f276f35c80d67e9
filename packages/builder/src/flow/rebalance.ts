// From the present table to one in which every node has its quota, in few moves. Pure.
import { seededRandom } from '@ringwright/base/random';
import { createBalance } from '../place/balance.ts';
import { dropReplicas, reshaped } from '../place/change-replicas.ts';
import type { HeldLeaves } from '../place/held-devices.ts';
import { countPairs, emptyPairCounts } from '../place/pair-counts.ts';
import { giveToHeirs, loadsOf, type Placement } from '../place/placement.ts';
import { computeQuotas } from '../place/quotas.ts';
import type { RebalanceWork } from '../place/rebalance-work.ts';
import { repairPartitions } from '../place/repair-partitions.ts';
import { createRules } from '../place/slot-rules.ts';
import type { Targets } from '../place/targets.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { moveDirectly } from './direct-moves.ts';
import { overfullLeaves, runExactFlow } from './exact-flow.ts';

const SEED = 0x4d_4f_56_45;
/** Above this many leaves the pair matrix costs more time than the moves themselves. */
const PAIR_LEAVES_MAX = 4_096;

interface RebalanceInput {
  readonly tree: TierTree;
  /** What loads shall become, and the bounds of each partition. */
  readonly targets: Targets;
  readonly before: Placement;
  /** Replicas wanted; `before` may have more or fewer, and must be wide enough for both. */
  readonly replicas: number;
  readonly frozen: Uint8Array | null;
  readonly held?: HeldLeaves | null;
  readonly forced: Uint8Array | null;
}

/** The placement wanted in the end, without the limit of one slot of a partition per version. */
export function rebalance(input: RebalanceInput): Placement {
  return solved(input).placement;
}

/** The same, and by leaf 1 where targets are less than tables with these bounds can do with. */
export function rebalanceOrCut(input: RebalanceInput): {
  readonly placement: Placement;
  /** Null when every leaf has a quota its targets permit. */
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
 * Partitions in which slots can be rerouted at no cost. Where replicas had to leave for legality
 * they may come back, which can pay for a move in any partition: then these are all partitions.
 * Not so for pins: what must leave for a pin never comes back.
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

/** All that may change, and of the frozen ones those that had to. */
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
