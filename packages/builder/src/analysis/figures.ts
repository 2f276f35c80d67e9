// How good a ring is: balance, dispersion and spread, from a ring and a builder state. Pure.

import type { Ring } from '@ringwright/ring/ring';
import { type SpreadFigures, spreadFigures } from '../placement/pair-spread.ts';
import { loadsOf, type Placement, placementOf } from '../placement/placement.ts';
import { type PlacementProblem, placementProblem } from '../placement/placement-problem.ts';
import { replicasOf } from '../placement/rebalance-work.ts';
import { denseHead } from '../plan/dense-head.ts';
import { slotsPerDevice } from '../plan/plan-devices.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { tierKinds, tierNamesById } from '../state/tier-name.ts';
import { deviceBelow, tierNames } from '../state/tier-tree.ts';
import { type ComponentPart, componentParts, type PartSettings } from './component-parts.ts';

interface BalanceFigures {
  /** Largest deviation of a device from its exact share, in slots and in percent of the share. */
  readonly worstSlots: number;
  readonly worstPercent: number;
  /** Device with the largest deviation in slots. */
  readonly worstDevice: number;
  /** Largest deviation of any tier from its exact share, in slots. */
  readonly worstTierSlots: number;
  /** Slots on devices that should have none: removed or of weight 0. */
  readonly slotsToClear: number;
}

export interface RingFigures {
  readonly balance: BalanceFigures;
  readonly dispersion: readonly TierDispersion[];
  /** Null above 10,000 devices, or when no two devices may share a partition. */
  readonly spread: SpreadFigures | null;
  readonly devices: readonly {
    readonly id: number;
    readonly slots: number;
    readonly share: number;
  }[];
  readonly tiers: readonly TierLoad[];
}

interface TierLoad {
  readonly tier: string;
  /** Identifies the domain: its region, zone and server are those of this device. */
  readonly device: number;
  readonly slots: number;
  readonly share: number;
}

/**
 * Returns the figures of the present table. A slot in flight counts on its present device.
 * Fractional replica counts such as 2.5 are supported. In a composite ring, each component
 * determines the shares of its own devices by its `settings`.
 */
export function ringFigures(
  ring: Ring,
  state: BuilderState,
  settings?: readonly (PartSettings | null)[],
): RingFigures {
  const parts = componentParts(ring, state, settings);
  if (parts.length > 0) return sumOf(parts, state);
  const dense = denseHead(ring, state);
  if (dense !== null) return ringFigures(dense.head, dense.state);
  const problem = placementProblem(state);
  const { tree, targets } = problem;
  const placement = placementOf(ring, tree);
  const loads = loadsOf(placement, tree);
  const slots = slotsPerDevice(ring.table, ring.devices.length);
  const devices = state.devices.flatMap((device) => {
    if (device === null) return [];
    const leaf = tree.leafOfDevice[device.id] ?? -1;
    const share = leaf < 0 ? 0 : (targets.exact[tree.firstLeaf + leaf] ?? 0);
    return [{ id: device.id, slots: slots[device.id] ?? 0, share }];
  });
  return {
    balance: balanceFigures(problem, loads, devices),
    dispersion: dispersionFigures(problem, placement, loads),
    spread: spreadFigures(problem, placement, loads),
    devices,
    tiers: tierLoads(problem, loads),
  };
}

/** There is no pair spread: the builder does not place devices of two components together. */
function sumOf(parts: readonly ComponentPart[], state: BuilderState): RingFigures {
  const found = parts.map((part) => ringFigures(part.ring, part.state));
  return {
    balance: worstOf(found.map(({ balance }) => balance)),
    dispersion: tierNames.slice(1, -1).map((tier) => {
      const ones = found.flatMap(({ dispersion }) => dispersion.filter((one) => one.tier === tier));
      const slotsOverCap = ones.reduce((sum, one) => sum + one.slotsOverCap, 0);
      const unavoidable = ones.reduce((sum, one) => sum + one.unavoidable, 0);
      return { tier, slotsOverCap, unavoidable };
    }),
    spread: null,
    devices: found.flatMap(({ devices }) => devices).sort((a, b) => a.id - b.id),
    tiers: tierSums(
      found.flatMap(({ tiers }) => tiers),
      state,
    ),
  };
}

function worstOf(all: readonly BalanceFigures[]): BalanceFigures {
  return all.reduce((a, b) => ({
    ...(b.worstSlots > a.worstSlots ? b : a),
    worstPercent: Math.max(a.worstPercent, b.worstPercent),
    worstTierSlots: Math.max(a.worstTierSlots, b.worstTierSlots),
    slotsToClear: a.slotsToClear + b.slotsToClear,
  }));
}

/** Merges a domain that several components use into one entry with the sum of their shares. */
function tierSums(all: readonly TierLoad[], { devices }: BuilderState): TierLoad[] {
  const sums = new Map<string, TierLoad>();
  for (const tier of tierKinds) {
    const names = tierNamesById(devices, tier);
    for (const one of all.filter((load) => load.tier === tier)) {
      const name = `${tier} ${names[one.device]}`;
      const { slots = 0, share = 0, device = one.device } = sums.get(name) ?? {};
      sums.set(name, { tier, device, slots: slots + one.slots, share: share + one.share });
    }
  }
  return [...sums.values()];
}

function balanceFigures(
  { tree, targets }: PlacementProblem,
  loads: Int32Array,
  devices: RingFigures['devices'],
): BalanceFigures {
  let worstDevice = -1;
  let worstSlots = -1;
  let worstPercent = 0;
  let slotsToClear = 0;
  for (const { id, slots, share } of devices) {
    if (share === 0) {
      slotsToClear += slots;
      continue;
    }
    const deviation = Math.abs(slots - share);
    worstPercent = Math.max(worstPercent, (100 * deviation) / share);
    if (deviation <= worstSlots) continue;
    worstSlots = deviation;
    worstDevice = id;
  }
  let worstTierSlots = 0;
  for (let v = 1; v < tree.firstLeaf; v += 1) {
    worstTierSlots = Math.max(worstTierSlots, Math.abs(loads[v]! - targets.exact[v]!));
  }
  return {
    worstSlots: Math.max(0, worstSlots),
    worstPercent,
    worstDevice,
    worstTierSlots,
    slotsToClear,
  };
}

function tierLoads({ tree, targets }: PlacementProblem, loads: Int32Array): TierLoad[] {
  return Array.from({ length: Math.max(0, tree.firstLeaf - 1) }, (_, index) => {
    const v = index + 1;
    return {
      tier: tierNames[tree.level[v]!]!,
      device: deviceBelow(tree, v),
      slots: loads[v]!,
      share: targets.exact[v]!,
    };
  });
}

interface TierDispersion {
  readonly tier: string;
  /** Slots beyond the tier's cap per partition, summed over partitions and domains. */
  readonly slotsOverCap: number;
  /** The least possible sum with these shares; a rebalance removes the difference. */
  readonly unavoidable: number;
}

/** Returns one entry each for regions, zones and servers. */
function dispersionFigures(
  { tree, shares }: PlacementProblem,
  placement: Placement,
  loads: Int32Array,
): TierDispersion[] {
  const overCap = new Float64Array(tierNames.length);
  const least = new Float64Array(tierNames.length);
  for (let v = 1; v < tree.firstLeaf; v += 1) {
    const capacity = placement.partitions * shares.caps[v]!;
    least[tree.level[v]!]! += Math.max(0, loads[v]! - capacity);
  }
  const count = new Int32Array(tree.nodes);
  for (let partition = 0; partition < placement.partitions; partition += 1) {
    const start = partition * placement.width;
    const end = start + replicasOf(placement, partition);
    for (let slot = start; slot < end; slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf === placement.none) continue;
      for (let v = tree.parent[tree.firstLeaf + leaf]!; v > 0; v = tree.parent[v]!) {
        count[v]! += 1;
        if (count[v]! > shares.caps[v]!) overCap[tree.level[v]!]! += 1;
      }
    }
    for (let slot = start; slot < end; slot += 1) {
      const leaf = placement.leaf[slot]!;
      if (leaf === placement.none) continue;
      for (let v = tree.parent[tree.firstLeaf + leaf]!; v > 0; v = tree.parent[v]!) count[v] = 0;
    }
  }
  return tierNames.slice(1, -1).map((tier, index) => ({
    tier,
    slotsOverCap: overCap[index + 1]!,
    unavoidable: least[index + 1]!,
  }));
}
