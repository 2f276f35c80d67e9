// Decides the next step of a rollout for a head that every server has confirmed. Pure.
import type { PlannedMove } from '@ringwright/builder/plan/plan';
import { movesOfWave, roomFor } from '@ringwright/builder/plan/steady-moves';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';

export type RolloutStep =
  /** Every server sends its writes to the joiners too, so these may start copying. */
  | { readonly kind: 'initialize'; readonly moves: readonly Move[] }
  /** Joiners copy. When they are done, the table may name them. */
  | { readonly kind: 'finalize'; readonly moves: readonly Move[] }
  /** Nothing is in flight: the old holders drop their files, and another wave may follow. */
  | { readonly kind: 'drain' };

/** Each step scans all remaining moves, and nobody reads more steps than these. */
export const COPY_STEPS_MAX = 1_000;

/** Limits on concurrent copies. They do not apply to new slots, which finish together. */
export interface CopyLimits {
  readonly moves: number;
  /** A single move may exceed this. */
  readonly bytes: number;
  readonly bytesOf: (partition: number) => number;
}

/** Starts further copies as the limits permit; else waits for those under way; else drains. */
export function nextRolloutStep(ring: Pick<Ring, 'moves'>, limits: CopyLimits): RolloutStep {
  const copying = ring.moves.filter(({ state }) => state === 'INITIALIZING');
  const isFirst = (move: Move): boolean => isNew(move) || move.state === 'INITIALIZING';
  const places = Math.max(limits.moves, copying.filter((move) => !isNew(move)).length);
  const chosen = movesOfWave(ring.moves, {
    room: roomFor([ring.moves]),
    most: places + ring.moves.filter(isNew).length,
    isUrgent: isFirst,
  });
  const moves = withinBytes(chosen, limits);
  if (moves.length > 0) return { kind: 'initialize', moves };
  return copying.length > 0 ? { kind: 'finalize', moves: copying } : { kind: 'drain' };
}

/** The moves that copy together. */
export interface CopyStep {
  readonly moves: number;
  readonly bytes: number;
}

/** Returns the copy steps of a rollout with these limits; at most COPY_STEPS_MAX. */
export function copySteps(
  waves: readonly (readonly PlannedMove[])[],
  limits: CopyLimits,
): readonly CopyStep[] {
  const steps: CopyStep[] = [];
  for (const wave of waves) {
    let moves = wave.map((move, assignment): Move => ({ ...move, assignment, state: 'PROPOSED' }));
    while (moves.length > 0 && steps.length < COPY_STEPS_MAX) {
      const step = nextRolloutStep({ moves }, limits);
      const moved = new Set(step.kind === 'drain' ? moves : step.moves);
      if (step.kind === 'initialize') {
        moves = moves.map((move) => (moved.has(move) ? { ...move, state: 'INITIALIZING' } : move));
        continue;
      }
      const bytes = [...moved].reduce((sum, { partition }) => sum + limits.bytesOf(partition), 0);
      steps.push({ moves: moved.size, bytes });
      moves = moves.filter((move) => !moved.has(move));
    }
  }
  return steps;
}

/** Returns those of the chosen moves that may begin now. */
function withinBytes(chosen: readonly Move[], { bytes, bytesOf }: CopyLimits): Move[] {
  const replacing = (move: Move): number => (isNew(move) ? 0 : bytesOf(move.partition));
  const copying = chosen.filter(({ state }) => state === 'INITIALIZING');
  let bytesCopying = copying.reduce((sum, move) => sum + replacing(move), 0);
  let isAny = copying.length > 0;
  return chosen.filter((move) => {
    if (move.state !== 'PROPOSED') return false;
    const moveBytes = replacing(move);
    if (isAny && bytesCopying + moveBytes > bytes) return false;
    bytesCopying += moveBytes;
    isAny ||= !isNew(move);
    return true;
  });
}

function isNew({ from }: Move): boolean {
  return from === null;
}
