// Why each slot of a partition is where it is: shares, bounds of its domains, alternatives. Pure.

import { assert } from '@ringwright/base/assert';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { pinnedBounds } from '../placement/pinned-bounds.ts';
import { type PlacementProblem, placementProblem } from '../placement/placement-problem.ts';
import {
  addLeaf,
  createRules,
  hasRoom,
  removeLeaf,
  startPartition,
} from '../placement/slot-rules.ts';
import { boundsOf } from '../placement/targets.ts';
import { denseHead } from '../plan/dense-head.ts';
import { slotsPerDevice } from '../plan/plan-devices.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { isPinned } from '../state/pins.ts';
import { heldIn, type TierKind, tierKinds, tierName } from '../state/tier-name.ts';
import { domainAt } from '../state/tier-tree.ts';
import { componentParts } from './component-parts.ts';

/**
 * What holds a slot in its place. `removed`, `drained`, `dispersion` and `share` name what is wrong
 * with the slot. `pinned`: an operator wants it there. `held`: its device is in maintenance and
 * keeps its slots. `only-place`: bounds permit no other device.
 * `full`: other devices may have it, but all hold their share. `pairs`: a device below its share
 * could have it, but got another, equally suitable slot, so that pairs of devices share partitions
 * evenly. `walk`: its device's token is among the first ones at or after the partition's end.
 * `component`: the component of the composite ring has the slot there.
 */
export type SlotRule =
  | 'removed'
  | 'drained'
  | 'pinned'
  | 'held'
  | 'dispersion'
  | 'share'
  | 'only-place'
  | 'full'
  | 'pairs'
  | 'walk'
  | 'component';

interface DomainBounds {
  readonly tier: TierKind;
  readonly name: string;
  /** Replicas of this partition in the domain, and their least and most permitted number. */
  readonly held: number;
  readonly least: number;
  readonly most: number;
}

export interface SlotWhy {
  readonly replica: number;
  readonly device: number;
  readonly joiner: number | null;
  readonly rule: SlotRule;
  /** Slots that its device holds, and the device's exact share. */
  readonly slots: number;
  readonly share: number;
  readonly domains: readonly DomainBounds[];
  /** Other devices that could hold it within all bounds, and those of them below their share. */
  readonly alternatives: number;
  readonly alternativesWithRoom: number;
  /** Partitions that its device shares with each other holder, and the even spread's number. */
  readonly pairs: readonly {
    readonly device: number;
    readonly shared: number;
    readonly even: number;
  }[];
}

/** Returns one entry per slot, in replica order. O(slots). */
export function whySlots(ring: Ring, state: BuilderState, partition: number): SlotWhy[] {
  const parts = componentParts(ring, state);
  if (parts.length > 0) {
    return parts.flatMap((part) =>
      whySlots(part.ring, part.state, partition).map((slot) => {
        return { ...slot, replica: slot.replica + part.firstRow, rule: 'component' as const };
      }),
    );
  }
  const dense = denseHead(ring, state);
  if (dense !== null) return whySlots(dense.head, dense.state, dense.ids.indexOf(partition));
  const problem = withPinsOf(placementProblem(state), state, partition);
  const loads = slotsPerDevice(ring.table, ring.devices.length);
  const slots = slotsOf(ring, partition);
  const holders = slots.map(({ device }) => device);
  return slots.map(({ replica, device, joiner }) => {
    const leaf = problem.tree.leafOfDevice[device] ?? -1;
    const share = leaf < 0 ? 0 : problem.targets.exact[problem.tree.firstLeaf + leaf]!;
    const pinned = isPinned(state, partition, device);
    const others = holders.filter((id) => id !== device);
    const domains = domainsOf(problem, state, { partition, device, holders });
    const { legal, withRoom } = alternativesTo(problem, { partition, device, others, loads });
    const found = { device, slots: loads[device]!, share, domains, pinned, legal, withRoom };
    return {
      replica,
      device,
      joiner,
      rule: ruleOf(state, found),
      slots: found.slots,
      share,
      domains,
      alternatives: legal,
      alternativesWithRoom: withRoom,
      pairs: pairsOf(ring, device, { others, loads }),
    };
  });
}

/** Returns the problem with shares by weight, and with this partition's own bounds. */
function withPinsOf(
  problem: PlacementProblem,
  state: BuilderState,
  partition: number,
): PlacementProblem {
  const pins = state.pins?.filter((pin) => pin.partition === partition) ?? [];
  const { tree, targets } = problem;
  if (pins.length === 0) return problem;
  return {
    ...problem,
    targets: { ...targets, own: pinnedBounds(tree, targets, { ...state, pins }) },
  };
}

function ruleOf(
  state: BuilderState,
  found: {
    readonly device: number;
    readonly slots: number;
    readonly share: number;
    readonly domains: readonly DomainBounds[];
    readonly pinned: boolean;
    readonly legal: number;
    readonly withRoom: number;
  },
): SlotRule {
  const device = state.devices[found.device] ?? null;
  if (device === null || device.state === 'removed') return 'removed';
  if (device.weight === 0) return 'drained';
  if (state.placement === 'tokens') return 'walk';
  if (found.pinned) return 'pinned';
  if (device.hold === 'maintenance') return 'held';
  // A weight far below the others leaves no slot, so the bounds of its domains are no reason.
  if (found.share === 0) return 'share';
  if (found.domains.some(({ held, most }) => held > most)) return 'dispersion';
  if (found.slots > Math.ceil(found.share)) return 'share';
  if (found.legal === 0) return 'only-place';
  return found.withRoom === 0 ? 'full' : 'pairs';
}

function domainsOf(
  { tree, targets }: PlacementProblem,
  state: BuilderState,
  slot: {
    readonly partition: number;
    readonly device: number;
    readonly holders: readonly number[];
  },
): DomainBounds[] {
  const device = state.devices[slot.device] ?? null;
  const leaf = tree.leafOfDevice[slot.device] ?? -1;
  if (device === null) return [];
  const { low, high } = boundsOf(targets, slot.partition);
  return tierKinds.slice(0, -1).map((tier, index) => {
    const name = tierName(device, tier);
    const held = heldIn(state, slot.holders, { tier, name });
    const v = leaf < 0 ? -1 : domainAt(tree, leaf, index + 1);
    const bounds = v < 0 ? { least: 0, most: 0 } : { least: low[v]!, most: high[v]! };
    return { tier, name, held, ...bounds };
  });
}

function alternativesTo(
  { tree, targets }: PlacementProblem,
  slot: {
    readonly partition: number;
    readonly device: number;
    readonly others: readonly number[];
    readonly loads: Int32Array;
  },
): { legal: number; withRoom: number } {
  const rules = createRules(tree, targets);
  startPartition(rules, slot.partition, slot.others.length + 1);
  const added: number[] = [];
  const found = { legal: 0, withRoom: 0 };
  for (const id of slot.others) {
    const leaf = tree.leafOfDevice[id] ?? -1;
    if (leaf < 0 || !addLeaf(rules, leaf)) continue;
    added.push(leaf);
  }
  const excluded = new Set([slot.device, ...slot.others]);
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const id = tree.deviceIds[leaf]!;
    if (excluded.has(id) || !hasRoom(rules, tree.firstLeaf + leaf)) continue;
    found.legal += 1;
    if (slot.loads[id]! < targets.floor[tree.firstLeaf + leaf]!) found.withRoom += 1;
  }
  for (const leaf of added) removeLeaf(rules, leaf);
  return found;
}

function pairsOf(
  { table, partitions, devices }: Ring,
  device: number,
  { others, loads }: { readonly others: readonly number[]; readonly loads: Int32Array },
): SlotWhy['pairs'] {
  const shared = new Int32Array(devices.length);
  for (let partition = 0; partition < partitions; partition += 1) {
    if (!table.some((row) => row[partition] === device)) continue;
    for (const row of table) {
      const id = row[partition];
      if (id !== undefined && id !== device) shared[id]! += 1;
    }
  }
  const meetings = shared.reduce((sum, one) => sum + one, 0);
  // Counts only devices it shares a partition with: dispersion keeps the others apart from it.
  const met = shared.reduce((sum, one, id) => sum + (one > 0 ? loads[id]! : 0), 0);
  assert(met > 0 || others.length === 0, `device ${device} shares partitions with nobody`);
  return others.map((id) => {
    return { device: id, shared: shared[id]!, even: (meetings * loads[id]!) / met };
  });
}
