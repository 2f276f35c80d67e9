// Why a version moved a slot, from the ring before it and the state it was planned with. Pure.

import type { Ring } from '@ringwright/ring/ring';
import { placementProblem } from '../placement/placement-problem.ts';
import { denseHead } from '../plan/dense-head.ts';
import type { PlannedMove } from '../plan/plan.ts';
import { slotsPerDevice } from '../plan/plan-devices.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { heldIn, tierKinds, tierName } from '../state/tier-name.ts';

export interface MoveReason {
  /**
   * `chain`: neither device needed the move; it makes room for a slot that has no other place, in
   * the chain of fewest moves. `component`: the component of a composite ring has the slot there.
   */
  readonly rule:
    | 'new-slot'
    | 'removed'
    | 'drained'
    | 'component'
    | 'pin'
    | 'dispersion'
    | 'share'
    | 'chain';
  readonly sentence: string;
}

/** `before` is the ring that the move was planned on, `state` the version's builder state. */
export function moveReason(before: Ring, state: BuilderState, move: PlannedMove): MoveReason {
  const { partition, from, to } = move;
  if (from === null && partition >= before.partitions) {
    return { rule: 'new-slot', sentence: 'its partition was split off or merged' };
  }
  if (from === null) return { rule: 'new-slot', sentence: 'the number of replicas was raised' };
  const dense = denseHead(before, state);
  if (dense !== null) {
    const column = dense.ids.indexOf(partition);
    return moveReason(dense.head, dense.state, { ...move, partition: column });
  }
  const device = state.devices[from] ?? null;
  if (device === null || device.state === 'removed') {
    return { rule: 'removed', sentence: `d${from} was removed` };
  }
  if (device.weight === 0) {
    return { rule: 'drained', sentence: `d${from} has weight 0 and gives away all its slots` };
  }
  const owner = state.components?.find(({ devices }) => devices.includes(to));
  if (owner !== undefined) {
    return { rule: 'component', sentence: `component ${owner.ring} has it on d${to}` };
  }
  const pin = state.pins?.find((one) => one.partition === partition);
  if (pin?.on.includes(to) === true) return { rule: 'pin', sentence: `it is pinned on d${to}` };
  if (pin?.off.includes(from) === true) {
    return { rule: 'pin', sentence: `it is pinned off d${from}` };
  }
  const { tree, targets } = placementProblem(state);
  const nodeOf = (id: number): number => tree.firstLeaf + (tree.leafOfDevice[id] ?? 0);
  const holders = before.table.flatMap((row) => row[partition] ?? []);
  for (let v = tree.parent[nodeOf(from)]!; v > 0; v = tree.parent[v]!) {
    const tier = tierKinds[tree.level[v]! - 1]!;
    const name = tierName(device, tier);
    const held = heldIn(state, holders, { tier, name });
    const most = targets.high[v]!;
    if (held <= most) continue;
    const sentence = `${tier} ${name} held ${held} replicas of it, dispersion allows ${most}`;
    return { rule: 'dispersion', sentence };
  }
  const loads = slotsPerDevice(before.table, state.devices.length);
  const [held, share] = [loads[from]!, targets.exact[nodeOf(from)]!];
  if (held > Math.ceil(share)) {
    const sentence = `d${from} held ${held} slots, its share is ${share.toFixed(2)}`;
    return { rule: 'share', sentence };
  }
  const [joinerSlots, joinerShare] = [loads[to]!, targets.exact[nodeOf(to)]!];
  if (joinerSlots < Math.floor(joinerShare)) {
    const sentence = `d${to} held ${joinerSlots} slots, its share is ${joinerShare.toFixed(2)}`;
    return { rule: 'share', sentence };
  }
  const sentence = 'neither device needed it: it makes room in the shortest chain of moves';
  return { rule: 'chain', sentence };
}
