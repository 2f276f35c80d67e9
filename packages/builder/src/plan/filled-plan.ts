// A plan of what was found: what follows from that, and what is usual, is filled in. Pure.
import type { NextRingFrom } from './next-ring.ts';
import type { Plan } from './plan.ts';
import { planDigest } from './plan-digest.ts';

/** Of a change that comes at once, with no move but those it needs, unless `found` says other. */
export function filledPlan(
  { head, headId, state }: Pick<NextRingFrom, 'head' | 'headId' | 'state'>,
  found: Pick<Plan, 'target' | 'moves' | 'devices'> & Partial<Plan>,
): Plan {
  const { moves, later = [] } = found;
  return {
    ring: state.ring,
    version: (head?.version ?? 0) + 1,
    parent: headId,
    cut: null,
    moveLowerBound: moves.length,
    optimum: null,
    swapMoves: 0,
    partitionsMovingTwice: 0,
    later,
    movesLeft: 0,
    warnings: [],
    digest: planDigest(headId, state, [moves, ...later]),
    ...found,
  };
}
