// The waves of a change after the first one, decided in full when the change is planned. Pure.
// If each wave were planned again from shares, it could take other partitions than the plan that
// the operator saw, above all in place of a cancelled move.
import { movesInFlightMax } from '@ringwright/base/limits';
import { laterMovesMax } from '@ringwright/base/limits-rings';
import type { Ring, Table } from '@ringwright/ring/ring';
import { copyTable } from '@ringwright/ring/slot-rows';
import type { Placement } from '../placement/placement.ts';
import type { BuilderState } from '../state/builder-state.ts';
import type { TierTree } from '../state/tier-tree.ts';
import { type CommitTimes, frozenPartitions } from './frozen-partitions.ts';
import { movesBetween } from './moves-between.ts';
import type { LaterWaves, Plan, PlannedMove } from './plan.ts';
import { movesOfWave, roomBetween, roomFor, steadyMoves } from './steady-moves.ts';
import { firstWave, keepRows, type WaveLimits } from './waves.ts';

interface WavesFrom {
  readonly state: BuilderState;
  /** The placement before the first wave. */
  readonly start: Placement;
  /** The moves of the first wave. */
  readonly moves: readonly PlannedMove[];
  /** The table after the first wave. */
  readonly target: Table;
  /** The placement after the last wave. */
  readonly goal: Placement;
}

/**
 * Returns the waves in order, each with at most one slot of a partition, except for removed
 * devices.
 */
export function laterWaves(
  from: WavesFrom,
  limits: WaveLimits & { readonly tree: TierTree },
): (readonly PlannedMove[])[] {
  const { state, start, goal, target } = from;
  const { tree } = limits;
  const current = { ...goal, leaf: start.leaf.slice() };
  const aim = { ...goal, leaf: goal.leaf.slice() };
  const table = copyTable(target, tree.leafOfDevice.length);
  const applyMoves = (moves: readonly PlannedMove[]): void => {
    for (const { partition, replica, to } of moves) {
      current.leaf[partition * current.width + replica] = tree.leafOfDevice[to]!;
      table[replica]![partition] = to;
    }
  };
  applyMoves(from.moves);
  const waves: (readonly PlannedMove[])[] = [];
  for (;;) {
    keepRows(current, aim);
    const after = firstWave(current, aim, limits).placement;
    const all = movesBetween(table, { before: current, after, ids: tree.deviceIds });
    if (all.length === 0) return waves;
    const room = roomBetween(current, goal, tree);
    const moves = movesOfWave(all, { room, most: Infinity, isUrgent: leavesRemoved(state) });
    waves.push(moves);
    applyMoves(moves);
  }
}

export interface NextWave {
  readonly moves: readonly PlannedMove[];
  /** The waves that remain after these moves. */
  readonly later: LaterWaves;
}

function leavesRemoved({ devices }: BuilderState): (move: PlannedMove) => boolean {
  return ({ from }) => from !== null && devices[from]?.state !== 'active';
}

/**
 * Takes as much of the first wave as is ready, has room and may be in flight at once. Moves without
 * room wait until the whole wave is ready; a wave that is entirely ready always goes on.
 */
export function takeWave(
  waves: LaterWaves,
  selection: {
    readonly isReady: (move: PlannedMove) => boolean;
    /** Moves to take before the others. */
    readonly isUrgent: (move: PlannedMove) => boolean;
    /** Default: as many as a ring may have in flight. */
    readonly most?: number;
  },
): NextWave {
  const room = roomFor(waves);
  const limits = { room, most: selection.most ?? movesInFlightMax, isUrgent: selection.isUrgent };
  const [wave = [], ...others] = waves;
  const ready = wave.filter(selection.isReady);
  const choose = ready.length < wave.length ? steadyMoves : movesOfWave;
  const moves = choose(ready, limits);
  const chosen = new Set(moves);
  const rest = wave.filter((move) => !chosen.has(move));
  return { moves, later: rest.length > 0 ? [rest, ...others] : others };
}

/**
 * Returns the next wave of a ring without moves in flight. Moves wait for their partition's
 * min_part_hours, except for those of removed devices.
 */
export function nextWave(
  later: LaterWaves,
  { head, state, times }: { head: Ring; state: BuilderState; times: CommitTimes },
): NextWave {
  const { restedThrough, minPartHours, swift } = state;
  const commitTimes = { ...times, earlier: swift?.lastMoves, restedThrough };
  const frozen = frozenPartitions(head, minPartHours, commitTimes);
  const isUrgent = leavesRemoved(state);
  const isReady = (move: PlannedMove): boolean => isUrgent(move) || frozen?.[move.partition] !== 1;
  return takeWave(later, { isReady, isUrgent });
}

/** Returns the waves without the moves of these partitions. */
export function withoutPartitions(later: LaterWaves, partitions: ReadonlySet<number>): LaterWaves {
  return later
    .map((wave) => wave.filter(({ partition }) => !partitions.has(partition)))
    .filter(({ length }) => length > 0);
}

/** Returns the first moves, as many as a version stores. */
export function rememberedWaves(waves: LaterWaves): LaterWaves {
  let room = laterMovesMax;
  return waves.flatMap((wave) => {
    const kept = wave.slice(0, room);
    room -= kept.length;
    return kept.length === 0 ? [] : [kept];
  });
}

export function moveCount(waves: LaterWaves): number {
  return waves.reduce((sum, { length }) => sum + length, 0);
}

/** Returns the moves of all waves of a plan, including the first. */
export function allMoves({ moves, later }: Pick<Plan, 'moves' | 'later'>): PlannedMove[] {
  return [moves, ...later].flat();
}
