// Pins: devices that must, or must not, hold a partition, whatever shares say. Pure.
// A pinned partition is set first and stays out of the flow; all others make up for it.
import { CodedError } from '@ringwright/base/coded-error';
import { pinCountMax } from '@ringwright/base/limits';
import type { BuilderState, Pin } from './builder-state.ts';
import { setSlot } from './draw-leaf.ts';
import { findLeaf } from './find-leaf.ts';
import { type RebalanceWork, replicasOf } from './rebalance-work.ts';
import { checkPartitioner } from './setting-ranges.ts';
import { addLeaf, removeLeaf, setReplicas } from './slot-rules.ts';

/** Errors: PIN_INVALID with what is wrong. */
export function checkPin(state: BuilderState, { partition, on, off }: Pin): void {
  const partitions = checkPartitioner(state.partitioner);
  const both = on.find((id) => off.includes(id));
  const problem =
    !Number.isInteger(partition) || partition < 0 || partition >= partitions
      ? `partition ${partition} is not among ${partitions}`
      : on.length > Math.floor(state.replicas)
        ? `partition ${partition} on ${on.length} devices, it has ${Math.floor(state.replicas)}`
        : new Set([...on, ...off]).size < on.length + off.length
          ? `device ${both ?? on[0] ?? off[0]} is named twice for partition ${partition}`
          : (state.pins?.length ?? 0) >= pinCountMax
            ? `${pinCountMax} partitions are pinned already, the most there may be`
            : null;
  if (problem === null) return;
  throw new CodedError('PIN_INVALID', problem, { details: { partition, on, off } });
}

/** The pins with this one in the place of what its partition had; ascending. */
export function withPin(pins: readonly Pin[], pin: Pin): Pin[] {
  const others = pins.filter(({ partition }) => partition !== pin.partition);
  const { partition, on, off } = pin;
  const kept = on.length + off.length === 0 ? others : [...others, { partition, on, off }];
  return kept.sort((a, b) => a.partition - b.partition);
}

/** Gives pinned partitions their leaves and freezes them for the steps that follow. */
export function applyPins(work: RebalanceWork, pins: readonly Pin[]): RebalanceWork {
  if (pins.length === 0) return work;
  const { partitions } = work.placement;
  const frozen = work.frozen?.slice() ?? new Uint8Array(partitions);
  for (const pin of pins) {
    if (pin.partition >= partitions) continue;
    pinOne(work, pin);
    frozen[pin.partition] = 1;
  }
  return { ...work, frozen };
}

function pinOne(work: RebalanceWork, { partition, on, off }: Pin): void {
  const { placement, tree, rules, balance } = work;
  const { leaf, none, width } = placement;
  const start = partition * width;
  const end = start + replicasOf(placement, partition);
  const leafOf = (id: number): number => tree.leafOfDevice[id] ?? -1;
  const must = new Set(on.map(leafOf).filter((one) => one >= 0));
  const mustNot = new Set(off.map(leafOf).filter((one) => one >= 0));
  for (let slot = start; slot < end; slot += 1) {
    if (leaf[slot] === none || must.has(leaf[slot]!)) must.delete(leaf[slot]!);
    else if (mustNot.has(leaf[slot]!)) setSlot(work, { partition, slot }, none);
  }
  for (const wanted of must)
    setSlot(work, { partition, slot: freeSlot(work, partition, on) }, wanted);
  setReplicas(rules, end - start);
  const held = [...leaf.subarray(start, end)].filter((one) => one !== none && addLeaf(rules, one));
  for (let slot = start; slot < end; slot += 1) {
    if (leaf[slot] !== none) continue;
    const wanted = { plus: balance.missing.slice(), minus: rules.zeros };
    const allowed = { plus: rules.ones.slice(), minus: rules.zeros };
    for (const not of mustNot) {
      wanted.plus[tree.firstLeaf + not] = 0;
      allowed.plus[tree.firstLeaf + not] = 0;
    }
    let found = findLeaf(work, 0, wanted);
    if (found < 0) found = findLeaf(work, 0, allowed);
    if (found < 0) found = anyLeaf(work, [...leaf.subarray(start, end)], mustNot);
    if (addLeaf(rules, found)) held.push(found);
    setSlot(work, { partition, slot }, found);
  }
  for (const one of held) removeLeaf(rules, one);
}

/** A free slot, or the one whose leaf has most above its quota and is not pinned. */
function freeSlot(work: RebalanceWork, partition: number, on: readonly number[]): number {
  const { placement, tree, balance } = work;
  const start = partition * placement.width;
  let best = -1;
  let most = -Infinity;
  for (let slot = start; slot < start + replicasOf(placement, partition); slot += 1) {
    const leaf = placement.leaf[slot]!;
    if (leaf === placement.none) return slot;
    const node = tree.firstLeaf + leaf;
    const over = balance.loads[node]! - balance.quotas[node]!;
    if (on.includes(tree.deviceIds[leaf]!) || over <= most) continue;
    best = slot;
    most = over;
  }
  return best;
}

/** The emptiest leaf that the partition has not and may have. */
function anyLeaf({ tree, balance }: RebalanceWork, held: number[], not: Set<number>): number {
  let best = -1;
  let most = -Infinity;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const short = balance.quotas[tree.firstLeaf + leaf]! - balance.loads[tree.firstLeaf + leaf]!;
    if (held.includes(leaf) || not.has(leaf) || short <= most) continue;
    best = leaf;
    most = short;
  }
  if (best >= 0) return best;
  throw new CodedError('PIN_INVALID', 'no device is left that a pinned partition may have');
}
