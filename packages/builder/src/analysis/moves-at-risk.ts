// What one more failure would cost while moves are in flight, tier by tier. Pure.
import type { Move } from '@ringwright/ring/move';
import { quorumOf } from '@ringwright/ring/quorum';
import type { Ring } from '@ringwright/ring/ring';
import type { PlannedMove } from '../plan/plan.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { type TierKind, tierKinds, tierNamesById } from '../state/tier-name.ts';

export interface TierRisk {
  readonly tier: TierKind;
  /** Number of domains of this tier. If there is only one, its failure takes everything anyway. */
  readonly domains: number;
  /** Partitions that the failure of one domain of this tier takes below a write quorum, now. */
  readonly before: number;
  /** The same during the moves: a slot in flight takes writes on both of its devices. */
  readonly while: number;
  /** The same after the moves. */
  readonly after: number;
}

/**
 * Covers the partitions with moves. `moves` is sorted by partition. Slots of removed devices count
 * as lost, because those devices may be gone.
 */
export function movesAtRisk(
  head: Pick<Ring, 'table'>,
  moves: readonly (PlannedMove | Move)[],
  state: Pick<BuilderState, 'devices'>,
): TierRisk[] {
  const removed = Uint8Array.from(state.devices, (device) =>
    device === null || device.state === 'removed' ? 1 : 0,
  );
  return tierKinds.map((tier) => {
    const names = tierNamesById(state.devices, tier);
    const domains = new Set(names.filter((name) => name !== '')).size;
    const risk = { tier, domains, before: 0, while: 0, after: 0 };
    for (let next = 0; next < moves.length; ) {
      const first = next;
      const partition = moves[first]!.partition;
      while (moves[next]?.partition === partition) next += 1;
      const slots = slotsAt(head, { partition, moves: moves.slice(first, next) });
      const slotsBefore = slots.map(({ from }) => from).filter((devices) => devices.length > 0);
      const slotsDuring = slots.map(({ from, to }) => [...from, ...to]);
      const slotsAfter = slots.map(({ from, to }) => (to.length > 0 ? to : from));
      if (breaks(slotsBefore, names, removed)) risk.before += 1;
      if (breaks(slotsDuring, names, removed)) risk.while += 1;
      if (breaks(slotsAfter, names, removed)) risk.after += 1;
    }
    return risk;
  });
}

/** `from` and `to` have no or one device each. */
interface MovingSlot {
  /** Empty for a slot that the head does not have, when the number of replicas grows. */
  readonly from: readonly number[];
  /** Empty when the slot stays where it is. */
  readonly to: readonly number[];
}

function slotsAt(
  { table }: Pick<Ring, 'table'>,
  partitionMoves: {
    readonly partition: number;
    readonly moves: readonly Pick<PlannedMove, 'replica' | 'to'>[];
  },
): MovingSlot[] {
  const slots: MovingSlot[] = [];
  const rows = Math.max(table.length, ...partitionMoves.moves.map(({ replica }) => replica + 1));
  for (let replica = 0; replica < rows; replica += 1) {
    const from = [table[replica]?.[partitionMoves.partition]].filter((id) => id !== undefined);
    const to = partitionMoves.moves
      .filter((move) => move.replica === replica)
      .map((move) => move.to);
    if (from.length + to.length > 0) slots.push({ from, to });
  }
  return slots;
}

/** Whether the loss of one domain can leave less than a quorum. A slot needs all its devices. */
function breaks(
  slots: readonly (readonly number[])[],
  names: readonly string[],
  removed: Uint8Array,
): boolean {
  const quorum = quorumOf(slots.length);
  const intact = slots.filter((devices) => devices.every((id) => removed[id] !== 1));
  if (intact.length < quorum) return true;
  return intact.some((devices) =>
    devices.some((id) => {
      const domain = names[id];
      const surviving = intact.filter((others) => others.every((other) => names[other] !== domain));
      return surviving.length < quorum;
    }),
  );
}
