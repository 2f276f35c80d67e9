// Changes the number of replicas: which replicas to keep, and what one version may do. Pure.
// The flow needs no special case: a replica that a partition loses costs nothing, and a new one
// costs one move, whatever the old and new counts are.
import { CodedError } from '@ringwright/base/coded-error';
import { movesInFlightMax } from '@ringwright/base/limits';
import { type Ring, rowLengths, slotCount } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { setSlot } from './draw-leaf.ts';
import { type Placement, shapeOf } from './placement.ts';
import { hadLeaf, type RebalanceWork, replicasOf } from './rebalance-work.ts';
import { addLeaf, removeLeaf, startPartition } from './slot-rules.ts';

/** Returns the same leaves shaped for another replica count; `dropReplicas` drops the surplus. */
export function reshaped(before: Placement, replicas: number): Placement {
  const { partitions } = before;
  return { ...before, ...shapeOf({ partitions, replicas }), leaf: before.leaf.slice() };
}

/**
 * Keeps as many replicas of each partition as it may have, within the rules. Replicas that the
 * partition had before come first, then those that an heir takes over; ties go to the emptiest
 * leaves.
 */
export function dropReplicas(work: RebalanceWork): void {
  const { placement, before } = work;
  for (let partition = 0; partition < placement.partitions; partition += 1) {
    const had = replicasOf(before, partition);
    if (had > replicasOf(placement, partition)) dropOne(work, partition, had);
  }
}

function dropOne(work: RebalanceWork, partition: number, had: number): void {
  const { placement, rules, balance, tree } = work;
  const { leaf, none } = placement;
  const { loads, quotas } = balance;
  const start = partition * placement.width;
  const count = replicasOf(placement, partition);
  const fullness = (slot: number): number => {
    const node = tree.firstLeaf + leaf[slot]!;
    return (loads[node]! - quotas[node]!) / loads[node]!;
  };
  const isNew = (slot: number): number => Number(!hadLeaf(work, partition, leaf[slot]!));
  const order = Array.from({ length: had }, (_, i) => start + i)
    .filter((slot) => leaf[slot] !== none)
    .sort((a, b) => isNew(a) - isNew(b) || fullness(a) - fullness(b) || a - b);
  startPartition(rules, partition, count);
  const keptSlots: number[] = [];
  for (const slot of order) {
    if (addLeaf(rules, leaf[slot]!)) keptSlots.push(slot);
    else setSlot(work, { partition, slot }, none);
  }
  for (const slot of keptSlots) removeLeaf(rules, leaf[slot]!);
  for (const slot of keptSlots) {
    if (slot < start + count) continue;
    let free = start;
    while (leaf[free] !== none) free += 1;
    leaf[free] = leaf[slot]!;
    leaf[slot] = none;
  }
}

/**
 * For fewer slots than the head has: returns its table cut so that kept replicas keep their slots.
 * A slot that gets a new device starts from a device that the partition had. Returns null when the
 * replica count does not shrink.
 */
export function cutTable(
  head: Ring,
  wanted: Placement,
  { tree, replicas }: { readonly tree: TierTree; readonly replicas: number },
): Pick<Ring, 'replicas' | 'table'> | null {
  if (slotCount(head.partitions, replicas) >= slotCount(head.partitions, head.replicas))
    return null;
  const table = zeroTable(head.partitions, replicas, head.devices.length);
  for (let partition = 0; partition < head.partitions; partition += 1) {
    const holders = head.table.flatMap((row) => (partition < row.length ? [row[partition]!] : []));
    const count = replicasOf(wanted, partition);
    const start = partition * wanted.width;
    const staying = new Set<number>();
    for (let slot = start; slot < start + count; slot += 1)
      staying.add(tree.deviceIds[wanted.leaf[slot]!]!);
    const keptIds = holders.filter((id, row) => row < count || staying.has(id));
    while (keptIds.length > count) {
      // The last one that need not stay. If all stay, it is -1, which is the last of all.
      const last = keptIds.findLastIndex((id) => !staying.has(id));
      keptIds.splice(last, 1);
    }
    for (let row = 0; row < count; row += 1) {
      const id = holders[row]!;
      if (keptIds.includes(id)) table[row]![partition] = id;
    }
    const displaced = keptIds.filter((id) => holders.indexOf(id) >= count);
    for (let row = 0; row < count; row += 1) {
      if (!keptIds.includes(holders[row]!)) table[row]![partition] = displaced.shift()!;
    }
  }
  return { replicas, table };
}

interface ReplicaStep {
  readonly head: Pick<Ring, 'partitions' | 'replicas'>;
  readonly state: Pick<BuilderState, 'ring' | 'replicas'>;
  readonly direct?: boolean;
}

/**
 * Throws VALUE_OUT_OF_RANGE, with the largest safe step, for a change that servers cannot follow
 * safely: quorums before and after a version must meet, and new slots enter the table together.
 */
export function checkReplicaStep({ head, state, direct }: ReplicaStep): void {
  const { partitions, replicas } = head;
  const fresh = slotCount(partitions, state.replicas) - slotCount(partitions, replicas);
  if (direct === true || fresh === 0) return;
  const growthMax = Math.min(1, movesInFlightMax / partitions);
  if (fresh <= growthMax * partitions && fresh >= -partitions) return;
  const step = fresh > 0 ? replicas + growthMax : replicas - 1;
  throw new CodedError(
    'VALUE_OUT_OF_RANGE',
    `${replicas} to ${state.replicas} replicas changes ${Math.abs(fresh)} slots, ` +
      `one version can change to at most ${step}`,
    {
      hint: `ring-builder set ${state.ring} --replicas ${step}, or use commit --direct if no server has the ring`,
      details: { replicas, wanted: state.replicas, step },
    },
  );
}

/** Marks slots with 1 that must move now: new ones, and those of removed devices. Null: none. */
export function urgentSlots(
  { table, partitions }: Pick<Ring, 'table' | 'partitions'>,
  state: BuilderState,
  width: number,
): Uint8Array | null {
  const active = Uint8Array.from(state.devices, (device) => (device?.state === 'active' ? 1 : 0));
  const lengths = rowLengths(partitions, state.replicas);
  const grows = lengths.some((length, replica) => length > (table[replica]?.length ?? 0));
  if (!active.includes(0) && !grows) return null;
  const urgent = new Uint8Array(partitions * width);
  for (const [replica, length] of lengths.entries()) {
    const row = table[replica];
    for (let partition = 0; partition < length; partition += 1) {
      const id = row?.[partition];
      if (id === undefined || active[id] !== 1) urgent[partition * width + replica] = 1;
    }
  }
  return urgent;
}

/** Returns `frozen` without the partitions whose replica count changes: those must change. */
export function frozenInShape(
  frozen: Uint8Array | null,
  before: Placement,
  after: Placement,
): Uint8Array | null {
  if (frozen === null || before.slots === after.slots) return frozen;
  return frozen.map((one, partition) =>
    replicasOf(before, partition) === replicasOf(after, partition) ? one : 0,
  );
}
