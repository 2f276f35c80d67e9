// Keeps a version's moves below the most a ring may have in flight. Pure.
import type { PlannedMove } from './plan.ts';

/**
 * At most `most` of the moves, in order: those `first` says, then the others evenly from all over
 * the ring, so that every device gets its part of this version.
 */
export function capMoves<Move extends PlannedMove>(
  moves: readonly Move[],
  most: number,
  first: (move: Move) => boolean,
): readonly Move[] {
  if (moves.length <= most) return moves;
  const urgent = moves.filter(first);
  if (urgent.length >= most) return urgent.slice(0, most);
  const room = most - urgent.length;
  const others = moves.length - urgent.length;
  let seen = 0;
  return moves.filter((move) => {
    if (first(move)) return true;
    seen += 1;
    return Math.floor((seen * room) / others) > Math.floor(((seen - 1) * room) / others);
  });
}
