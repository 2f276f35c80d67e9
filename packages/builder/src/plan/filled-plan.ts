// Completes a plan from what was found: derived fields and defaults. Pure.
import type { Plan, PlanBasis } from './plan.ts';
import { planDigest } from './plan-digest.ts';

/** By default the change takes one version and only necessary moves; `found` overrides this. */
export function filledPlan(
  { head, headId, state }: Pick<PlanBasis, 'head' | 'headId' | 'state'>,
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
