// The slots that a plan takes from each region, zone and server, and gives to it. Pure.

import type { DevicePlan, PlannedMove } from '../plan/plan.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { type TierKind, tierKinds, tierNamesById } from '../state/tier-name.ts';

/** Slots in and out cross its border: moves inside it are not counted. */
export interface TierPlan extends Omit<DevicePlan, 'id'> {
  readonly tier: TierKind;
  readonly name: string;
  /** Devices below it that may hold slots. */
  readonly devices: number;
}

type Totals = { -readonly [key in keyof TierPlan]: TierPlan[key] };

/** Returns regions first, then zones, then servers, each in the order of their first device. */
export function tierPlans(
  state: BuilderState,
  devices: readonly DevicePlan[],
  moves: readonly PlannedMove[],
): TierPlan[] {
  return tierKinds.slice(0, -1).flatMap((tier) => {
    const names = tierNamesById(state.devices, tier);
    const totals = new Map<string, Totals>();
    for (const { id, before, after, share } of devices) {
      const name = names[id] ?? '';
      const empty = { devices: 0, share: 0, before: 0, after: 0, slotsIn: 0, slotsOut: 0 };
      const total = totals.get(name) ?? { tier, name, ...empty };
      totals.set(name, total);
      total.devices += share > 0 ? 1 : 0;
      total.share += share;
      total.before += before;
      total.after += after;
    }
    for (const { from, to } of moves) {
      const [left, joined] = [names[from ?? -1] ?? '', names[to] ?? ''];
      if (left === joined) continue;
      const [giver, taker] = [totals.get(left), totals.get(joined)];
      if (giver !== undefined) giver.slotsOut += 1;
      if (taker !== undefined) taker.slotsIn += 1;
    }
    return [...totals.values()];
  });
}
