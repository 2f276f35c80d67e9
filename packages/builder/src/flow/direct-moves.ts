// Second step of a rebalance: moves slots from leaves above quota to leaves below it. Pure.
// Far first: a surplus leaves its region while it can, since later only near moves may be legal.
import { drawLeaf, type SlotPlace, setSlot } from '../placement/draw-leaf.ts';
import {
  enterPartition,
  hadLeaf,
  leavePartition,
  type RebalanceWork,
  replicasOf,
} from '../placement/rebalance-work.ts';
import { addLeaf, hasRoom, removeLeaf } from '../placement/slot-rules.ts';

/** Each pass looks at every slot once; later passes are less selective. */
export function moveDirectly(work: RebalanceWork): void {
  if (work.balance.missing[0] === 0) return;
  movePass(work, { spread: true, planned: true, again: false });
  for (const pass of [
    { spread: false, planned: true, again: false },
    { spread: false, planned: false, again: false },
    { spread: false, planned: false, again: true },
  ]) {
    if (work.balance.missing[0]! > 0) movePass(work, pass);
  }
}

interface Pass {
  /** Spreads a leaf's moves over the ring, by error diffusion, not from its first partitions. */
  readonly spread: boolean;
  /** Moves only where every tier left behind has a surplus, and every tier entered a deficit. */
  readonly planned: boolean;
  /** Moves a second slot of a partition. */
  readonly again: boolean;
}

function movePass(work: RebalanceWork, pass: Pass): void {
  const { placement, before, balance, tree, frozen } = work;
  const { leaf, none, width } = placement;
  const { loads, quotas } = balance;
  const rate = new Float64Array(tree.leaves);
  const due = new Float64Array(tree.leaves);
  for (let i = 0; i < tree.leaves; i += 1) {
    const node = tree.firstLeaf + i;
    rate[i] = pass.spread ? Math.max(0, loads[node]! - quotas[node]!) / loads[node]! : 1;
  }
  for (let partition = 0; partition < placement.partitions; partition += 1) {
    const start = partition * width;
    const end = start + replicasOf(placement, partition);
    for (let slot = start; slot < end; slot += 1) {
      const from = leaf[slot]!;
      if (from === none || loads[tree.firstLeaf + from]! <= quotas[tree.firstLeaf + from]!)
        continue;
      due[from]! += rate[from]!;
      if (due[from]! < 1 || frozen?.[partition] === 1 || work.kept?.[from] === 1) continue;
      if (leaf[slot] !== before.leaf[slot] && !hadLeaf(work, partition, from)) continue;
      if (!pass.again && hasMoved(work, partition)) continue;
      if (moveSlot(work, { partition, slot }, pass)) due[from]! -= 1;
      if (balance.missing[0] === 0) return;
    }
  }
}

function hasMoved(work: RebalanceWork, partition: number): boolean {
  const { placement, before } = work;
  const start = partition * placement.width;
  for (let slot = start; slot < start + replicasOf(placement, partition); slot += 1) {
    const leaf = placement.leaf[slot]!;
    if (leaf !== before.leaf[slot] && !hadLeaf(work, partition, leaf)) return true;
  }
  return false;
}

function moveSlot(work: RebalanceWork, slotPlace: SlotPlace, pass: Pass): boolean {
  const { placement, rules, balance } = work;
  if (!enterPartition(work, slotPlace.partition)) return false;
  const from = placement.leaf[slotPlace.slot]!;
  removeLeaf(rules, from);
  const to = pass.planned
    ? farthestLeaf(work, slotPlace)
    : drawLeaf(work, { ...slotPlace, below: 0 }, { plus: balance.missing, minus: rules.zeros });
  addLeaf(rules, from);
  leavePartition(work, slotPlace.partition);
  if (to < 0) return false;
  setSlot(work, slotPlace, to);
  return true;
}

/**
 * Returns a wanted leaf as far away as possible: below the highest node that the slot can reach
 * through tiers with a surplus.
 */
function farthestLeaf(work: RebalanceWork, slotPlace: SlotPlace): number {
  const { tree, rules, balance, placement } = work;
  const { loads, quotas } = balance;
  const meetings: number[] = [];
  let node = tree.firstLeaf + placement.leaf[slotPlace.slot]!;
  while (node > 0 && loads[node]! > quotas[node]!) {
    node = tree.parent[node]!;
    meetings.push(node);
  }
  for (let i = meetings.length - 1; i >= 0; i -= 1) {
    const below = meetings[i]!;
    if (rules.bound[below] !== 1 && !hasRoom(rules, below)) continue;
    const found = drawLeaf(work, { ...slotPlace, below }, { plus: quotas, minus: loads });
    if (found >= 0) return found;
  }
  return -1;
}
