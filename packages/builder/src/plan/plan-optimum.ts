// Whether a plan's moves are the minimum, and what keeps them above the lower bound. Pure.
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { firstWhere } from '@ringwright/ring/first-where';
import type { Ring } from '@ringwright/ring/ring';
import { certify } from '../certify/certify.ts';
import { rebalance } from '../flow/rebalance.ts';
import { loadsOf, type Placement, placementOf, tableOf } from '../placement/placement.ts';
import { type PlacementProblem, placementProblem } from '../placement/placement-problem.ts';
import { computeQuotas, movesAtLeast } from '../placement/quotas.ts';
import { hadLeaf } from '../placement/rebalance-work.ts';
import type { BuilderState } from '../state/builder-state.ts';

/** Candidate overloads. A bisection tries some of them, each with a whole rebalance. */
const OVERLOADS = [0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1];
/** Above this many slots a rebalance takes half a second, and this advice needs several. */
const ADVICE_SLOTS_MAX = 4_000_000;

export interface Optimum {
  /** Fewest moves to any table with the guarantees: this version and the later ones together. */
  readonly moves: number;
  /** `bound`: equal to the lower bound. `potentials`: above it, and proved optimal by duality. */
  readonly proof: 'bound' | 'potentials';
}

interface OptimumQuestion {
  readonly head: Ring;
  readonly state: BuilderState;
  readonly problem: PlacementProblem;
  /** The placement after all waves. */
  readonly wanted: Placement;
  readonly moves: number;
  readonly bound: number;
}

/** Returns null without a proof, for example when frozen partitions delay the final table. */
export function provenOptimum(question: OptimumQuestion): Optimum | null {
  const { head, state, problem, wanted, moves, bound } = question;
  if (moves === bound) return { moves, proof: 'bound' };
  const ring = { replicas: state.replicas, devices: state.devices.length };
  const after = tableOf(wanted, problem.tree, ring);
  const { optimal } = certify({ before: head.table, after, state, problem });
  return optimal ? { moves, proof: 'potentials' } : null;
}

/**
 * Explains why more slots move than shares alone demand, and names an overload that would avoid it.
 * Without a proof that the moves are the fewest, the finding says so.
 */
export function gapFindings(question: OptimumQuestion, optimum: Optimum | null): Finding[] {
  const { moves, bound, state, problem } = question;
  const gap = moves - bound;
  if (gap <= 0) return [];
  const slots = counted(moves, 'slot moves', 'slots move');
  const what = `${slots} where shares alone would require ${bound}`;
  const details = { moves, bound, gap, overload: state.overload };
  if (optimum === null) {
    const message = `${what}; there is no proof that this is the fewest`;
    return [{ code: 'MOVES_ABOVE_BOUND', message, details }];
  }
  const stuck = problem.targets.low.some((low, v) => v > 0 && low > 0);
  const overload = gap > bound / 100 ? closingOverload(question) : null;
  const reason = stuck
    ? 'every partition must keep replicas in its largest failure domains, so slots make detours'
    : 'the free slots do not fit the devices that need slots';
  const remedy = overload === null ? '' : `; an overload of ${overload} would avoid the detours`;
  return [
    {
      code: 'MOVES_ABOVE_BOUND',
      message: `${what}: ${reason}${remedy}`,
      details: { ...details, closingOverload: overload },
    },
  ];
}

/** Returns the smallest candidate overload with which the moves equal their bound, or null. */
function closingOverload(question: OptimumQuestion): number | null {
  if (question.wanted.slots > ADVICE_SLOTS_MAX) return null;
  const candidates = OVERLOADS.filter((overload) => overload > question.state.overload);
  return (
    candidates[
      firstWhere(candidates.length, (index) => gapWith(question, candidates[index]!) === 0)
    ] ?? null
  );
}

function gapWith({ head, state }: OptimumQuestion, overload: number): number {
  const { tree, targets } = placementProblem({ ...state, overload });
  const before = placementOf(head, tree, Math.ceil(state.replicas));
  const { replicas } = state;
  const wanted = rebalance({ tree, targets, before, replicas, frozen: null, forced: null });
  return movesTo(before, wanted) - moveBound(tree, targets, before);
}

/** Returns the number of slots on leaves that the partition did not have before. */
export function movesTo(before: Placement, wanted: Placement): number {
  let moves = 0;
  for (let partition = 0; partition < wanted.partitions; partition += 1) {
    const start = partition * wanted.width;
    for (let slot = start; slot < start + wanted.width; slot += 1) {
      const leaf = wanted.leaf[slot]!;
      if (leaf !== wanted.none && !hadLeaf({ before }, partition, leaf)) moves += 1;
    }
  }
  return moves;
}

/** Returns the fewest moves that shares alone demand, over all legal roundings. */
export function moveBound(
  tree: PlacementProblem['tree'],
  targets: PlacementProblem['targets'],
  before: Placement,
): number {
  const loads = loadsOf(before, tree);
  return movesAtLeast(tree, computeQuotas(tree, targets, loads), loads);
}
