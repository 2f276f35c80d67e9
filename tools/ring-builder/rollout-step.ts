// What a rollout does next with a head that every server has confirmed. Pure.
import { capMoves } from '@ringwright/builder/cap-moves';
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
  const proposed = ring.moves.filter(({ state }) => state === 'PROPOSED');
  const copying = ring.moves.filter(({ state }) => state === 'INITIALIZING');
  const fresh = proposed.filter(isNew);
  const others = proposed.filter((move) => !isNew(move));
  const room = Math.max(0, most - copying.filter((move) => !isNew(move)).length);
  const moves = [...fresh, ...(room === 0 ? [] : capMoves(others, room, isNew))];
  if (moves.length > 0) return { kind: 'initialize', moves };
  return copying.length > 0 ? { kind: 'finalize', moves: copying } : { kind: 'drain' };
}

function isNew({ from }: Move): boolean {
  return from === null;
}
