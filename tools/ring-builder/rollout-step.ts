// What a rollout does next with a head that every server has confirmed. Pure.
import type { Move } from '@ringwright/ring/move';
import type { Ring } from '@ringwright/ring/ring';

export type RolloutStep =
  /** Every server sends its writes to the joiners too: they may copy. */
  | { readonly kind: 'initialize' }
  /** Joiners copy: wait for them, then the table may name them. */
  | { readonly kind: 'finalize'; readonly moves: readonly Move[] }
  /** Nothing is in flight: the old holders give up their files, and a next wave may follow. */
  | { readonly kind: 'drain' };

export function nextRolloutStep(ring: Ring): RolloutStep {
  if (ring.moves.some(({ state }) => state === 'PROPOSED')) return { kind: 'initialize' };
  return ring.moves.length > 0 ? { kind: 'finalize', moves: ring.moves } : { kind: 'drain' };
}
