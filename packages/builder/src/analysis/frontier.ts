// The effect of each overload: better dispersion against fuller devices and more moves. Pure.

import { placementProblem } from '../placement/placement-problem.ts';
import { denseHead } from '../plan/dense-head.ts';
import { type PlanInput, planVersion } from '../plan/plan-version.ts';
import { requiredOverload } from '../shares/required-overload.ts';
import { type TierKind, tierKinds } from '../state/tier-name.ts';

interface FrontierPoint {
  readonly overload: number;
  /** By tier: slots beyond their domain's dispersion cap that these shares make unavoidable. */
  readonly beyondCap: Readonly<Record<TierKind, number>>;
  readonly beyondCapTotal: number;
  /** Fullest device relative to its share by weight alone: 1.1 is 10 % more. */
  readonly worstFill: number;
  /** Slots that the next version would move, and slots left for later versions. */
  readonly moves: number;
  readonly movesLeft: number;
  readonly current: boolean;
}

interface Frontier {
  readonly points: readonly FrontierPoint[];
  /** The least overload with perfect dispersion; null when no overload reaches it. */
  readonly required: number | null;
  /** The least listed overload beyond which dispersion does not improve. */
  readonly recommended: number;
}

type FrontierInput = Omit<PlanInput, 'direct'>;

const USUAL = [0, 0.05, 0.1, 0.2];
const PARTS = [0.25, 0.5, 0.75, 1];

/** Each point takes a whole plan; the default is about eight. Throws what planVersion throws. */
export function overloadFrontier(input: FrontierInput, overloads?: readonly number[]): Frontier {
  const dense = input.head === null ? null : denseHead(input.head, input.state);
  if (dense !== null) return overloadFrontier({ ...input, ...dense }, overloads);
  const { state } = input;
  const { tree, shares } = placementProblem(state);
  const required = requiredOverload(tree, shares);
  const parts = required === null || required === 0 ? [] : PARTS.map((part) => part * required);
  const candidates = overloads ?? [...USUAL, ...parts, state.overload];
  const values = [...new Set(candidates.map((one) => Math.ceil(one * 1e6) / 1e6))];
  const points = values.sort((a, b) => a - b).map((overload) => pointAt(input, overload));
  const best = Math.min(...points.map(({ beyondCapTotal }) => beyondCapTotal));
  const recommended = points.find(({ beyondCapTotal }) => beyondCapTotal <= best)?.overload ?? 0;
  return { points, required, recommended };
}

function pointAt(input: FrontierInput, overload: number): FrontierPoint {
  const state = { ...input.state, overload };
  const { tree, shares, ring } = placementProblem(state);
  const plan = planVersion({ ...input, state, direct: true });
  const beyond = { region: 0, zone: 0, server: 0, device: 0 };
  for (let v = 1; v < tree.firstLeaf; v += 1) {
    const excess = ring.partitions * (shares.wanted[v]! - shares.caps[v]!);
    if (excess > 1e-6) beyond[tierKinds[tree.level[v]! - 1]!] += excess;
  }
  let worstFill = 0;
  for (let leaf = 0; leaf < tree.leaves; leaf += 1) {
    const fill = shares.wanted[tree.firstLeaf + leaf]! / shares.base[leaf]!;
    worstFill = Math.max(worstFill, fill);
  }
  return {
    overload,
    beyondCap: beyond,
    beyondCapTotal: Math.round(beyond.region + beyond.zone + beyond.server),
    worstFill,
    moves: plan.moves.length,
    movesLeft: plan.movesLeft,
    current: overload === input.state.overload,
  };
}
