// Divides a change into versions: the moves of the first wave, and the waves that follow. Pure.
import { movesInFlightMax } from '@ringwright/base/limits';
import type { SlotRow, Table } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import type { Placement } from '../placement/placement.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { laterWaves } from './later-waves.ts';
import { movesBetween } from './moves-between.ts';
import type { PlannedMove } from './plan.ts';
import { movesOfWave, roomBetween } from './steady-moves.ts';
import { orderUrgent } from './urgent-order.ts';
import { firstWave, type Wave, type WaveLimits } from './waves.ts';

interface PlannedChange {
  readonly state: BuilderState;
  /** The table of `start`. */
  readonly table: Table;
  readonly start: Placement;
  /** The placement as near to `goal` as frozen partitions and moves in flight permit. */
  readonly wanted: Placement;
  readonly goal: Placement;
  /** Partitions with a move in flight: other partitions move first. */
  readonly moving: ReadonlySet<number>;
  /** No cap on the moves of a version. */
  readonly direct: boolean;
}

interface PlannedWaves {
  /** The table after the first wave. */
  readonly target: SlotRow[];
  readonly moves: readonly PlannedMove[];
  /** The waves after the first, in order. */
  readonly waves: readonly (readonly PlannedMove[])[];
}

type ChangeLimits = WaveLimits & { readonly tree: TierTree };

/**
 * Plans the waves. Between versions, no device holds more than both before and after the whole
 * change, except where urgent moves require it.
 */
export function planWaves(change: PlannedChange, limits: ChangeLimits): PlannedWaves {
  const { state, table, start, wanted, goal, moving } = change;
  const { tree, forced } = limits;
  const wave = steadyUrgent(change, limits);
  const transition = { before: start, after: wave.placement, ids: tree.deviceIds };
  const wantedMoves = movesBetween(table, transition);
  const readyMoves = wantedMoves.filter(({ partition }) => !moving.has(partition));
  const most = change.direct ? Infinity : movesInFlightMax;
  const isWhole =
    goal === wanted && wave.movesLeft === 0 && readyMoves.length === wantedMoves.length;
  const moves =
    isWhole && readyMoves.length <= most
      ? readyMoves
      : movesOfWave(readyMoves, {
          room: roomBetween(start, goal, tree),
          most,
          isUrgent: urgency(readyMoves, forced, start),
        });
  const target = zeroTable(start.partitions, state.replicas, state.devices.length);
  for (const [replica, row] of table.entries()) target[replica]!.set(row);
  for (const { partition, replica, to } of moves) target[replica]![partition] = to;
  const isLast = isWhole && moves.length === readyMoves.length;
  const waves = isLast ? [] : laterWaves({ state, start, moves, target, goal }, limits);
  return { target, moves, waves };
}

/** Returns the first wave, in which urgent slots go to leaves with room where possible. */
function steadyUrgent({ start, wanted, goal }: PlannedChange, limits: ChangeLimits): Wave {
  const wave = firstWave(start, wanted, limits);
  if (wave.movesLeft === 0 || limits.forced === null) return wave;
  orderUrgent(start, wanted, { ...limits, room: roomBetween(start, goal, limits.tree) });
  return firstWave(start, wanted, limits);
}

/** Decides which moves are urgent. New slots enter together: if there are any, only they are. */
function urgency(
  moves: readonly PlannedMove[],
  forced: Uint8Array | null,
  { width }: Placement,
): (move: PlannedMove) => boolean {
  if (moves.some(({ from }) => from === null)) return ({ from }) => from === null;
  return ({ partition, replica }) => forced?.[partition * width + replica] === 1;
}
