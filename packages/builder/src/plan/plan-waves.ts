// The versions of a change, each with its moves: what comes first, and what follows. Pure.
import { movesInFlightMax } from '@ringwright/base/limits';
import type { SlotRow, Table } from '@ringwright/ring/ring';
import { zeroTable } from '@ringwright/ring/slot-rows';
import type { Placement } from '../place/placement.ts';
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
  /** What `start` stands for. */
  readonly table: Table;
  readonly start: Placement;
  /** As far as partitions that rest, or have a move in flight, let it come. */
  readonly wanted: Placement;
  readonly goal: Placement;
  /** Partitions with a move in flight: others move before them. */
  readonly moving: ReadonlySet<number>;
  /** No cap on the moves of a version. */
  readonly direct: boolean;
}

interface PlannedWaves {
  /** The table after the first wave. */
  readonly target: SlotRow[];
  readonly moves: readonly PlannedMove[];
  /** What follows, in order. */
  readonly waves: readonly (readonly PlannedMove[])[];
}

type ChangeLimits = WaveLimits & { readonly tree: TierTree };

/** No device is lifted above what it holds before and after all, but where urgent moves do it. */
export function planWaves(change: PlannedChange, limits: ChangeLimits): PlannedWaves {
  const { state, table, start, wanted, goal, moving } = change;
  const { tree, forced } = limits;
  const wave = steadyUrgent(change, limits);
  const after = { before: start, after: wave.placement, ids: tree.deviceIds };
  const wanting = movesBetween(table, after);
  const all = wanting.filter(({ partition }) => !moving.has(partition));
  const most = change.direct ? Infinity : movesInFlightMax;
  const isWhole = goal === wanted && wave.movesLeft === 0 && all.length === wanting.length;
  const moves =
    isWhole && all.length <= most
      ? all
      : movesOfWave(all, {
          room: roomBetween(start, goal, tree),
          most,
          isUrgent: urgency(all, forced, start),
        });
  const target = zeroTable(start.partitions, state.replicas, state.devices.length);
  for (const [replica, row] of table.entries()) target[replica]!.set(row);
  for (const { partition, replica, to } of moves) target[replica]![partition] = to;
  const isLast = isWhole && moves.length === all.length;
  const waves = isLast ? [] : laterWaves({ state, start, moves, target, goal }, limits);
  return { target, moves, waves };
}

/** The first wave, with urgent slots where there is room for them. */
function steadyUrgent({ start, wanted, goal }: PlannedChange, limits: ChangeLimits): Wave {
  const wave = firstWave(start, wanted, limits);
  if (wave.movesLeft === 0 || limits.forced === null) return wave;
  orderUrgent(start, wanted, { ...limits, room: roomBetween(start, goal, limits.tree) });
  return firstWave(start, wanted, limits);
}

/** New slots all come at once, so that only they are urgent where there are any. */
function urgency(
  moves: readonly PlannedMove[],
  forced: Uint8Array | null,
  { width }: Placement,
): (move: PlannedMove) => boolean {
  if (moves.some(({ from }) => from === null)) return ({ from }) => from === null;
  return ({ partition, replica }) => forced?.[partition * width + replica] === 1;
}
