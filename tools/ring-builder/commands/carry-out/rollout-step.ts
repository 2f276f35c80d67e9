// What a rollout does next with a head that every server has confirmed. Pure.
import { movesOfWave, roomFor } from '@ringwright/builder/plan/steady-moves';
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';

export type RolloutStep =
  /** Every server sends its writes to the joiners too: these may copy. */
  | { readonly kind: 'initialize'; readonly moves: readonly Move[] }
  /** Joiners copy: wait for them, then the table may name them. */
  | { readonly kind: 'finalize'; readonly moves: readonly Move[] }
  /** Nothing is in flight: the old holders give up their files, and a next wave may follow. */
  | { readonly kind: 'drain' };

/** `most`: moves that may copy at once. New slots are no part of that: they come together. */
export function nextRolloutStep(ring: Pick<Ring, 'moves'>, most: number): RolloutStep {
  const copying = ring.moves.filter(({ state }) => state === 'INITIALIZING');
  const isFirst = (move: Move): boolean => isNew(move) || move.state === 'INITIALIZING';
  const places = Math.max(most, copying.filter((move) => !isNew(move)).length);
  const chosen = movesOfWave(ring.moves, {
    room: roomFor([ring.moves]),
    most: places + ring.moves.filter(isNew).length,
    isUrgent: isFirst,
  });
  const moves = chosen.filter(({ state }) => state === 'PROPOSED');
  if (moves.length > 0) return { kind: 'initialize', moves };
  return copying.length > 0 ? { kind: 'finalize', moves: copying } : { kind: 'drain' };
}

function isNew({ from }: Move): boolean {
  return from === null;
}
