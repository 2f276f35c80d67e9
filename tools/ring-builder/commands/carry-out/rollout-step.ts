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

/** What may copy at once. New slots are no part of that: they come together. */
export interface CopyLimits {
  readonly moves: number;
  /** One move alone may have more. */
  readonly bytes: number;
  readonly bytesOf: (partition: number) => number;
}

export function nextRolloutStep(ring: Pick<Ring, 'moves'>, most: CopyLimits): RolloutStep {
  const copying = ring.moves.filter(({ state }) => state === 'INITIALIZING');
  const isFirst = (move: Move): boolean => isNew(move) || move.state === 'INITIALIZING';
  const places = Math.max(most.moves, copying.filter((move) => !isNew(move)).length);
  const chosen = movesOfWave(ring.moves, {
    room: roomFor([ring.moves]),
    most: places + ring.moves.filter(isNew).length,
    isUrgent: isFirst,
  });
  const moves = withinBytes(chosen, most);
  if (moves.length > 0) return { kind: 'initialize', moves };
  return copying.length > 0 ? { kind: 'finalize', moves: copying } : { kind: 'drain' };
}

/** Of the chosen ones those that may begin now. */
function withinBytes(chosen: readonly Move[], { bytes, bytesOf }: CopyLimits): Move[] {
  const replacing = (move: Move): number => (isNew(move) ? 0 : bytesOf(move.partition));
  const copying = chosen.filter(({ state }) => state === 'INITIALIZING');
  let taken = copying.reduce((sum, move) => sum + replacing(move), 0);
  let isAny = copying.length > 0;
  return chosen.filter((move) => {
    if (move.state !== 'PROPOSED') return false;
    const more = replacing(move);
    if (isAny && taken + more > bytes) return false;
    taken += more;
    isAny ||= !isNew(move);
    return true;
  });
}

function isNew({ from }: Move): boolean {
  return from === null;
}
