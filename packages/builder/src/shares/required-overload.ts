// The least overload with which every tier stays within its dispersion cap. Pure.
import { overloadMax } from '@ringwright/base/limits';
import type { TierTree } from '../state/tier-tree.ts';
import { SHARE_EPSILON, type Shares } from './shares.ts';
import { capacityUnderCaps } from './water-filling.ts';

const STEPS = 40;
const DIGITS = 1e6;

/** Rounds up to six digits. Returns null when no overload up to the limit suffices. */
export function requiredOverload(tree: TierTree, shares: Shares): number | null {
  const wanted = shares.wanted[0]! * (1 - SHARE_EPSILON);
  const fits = (overload: number): boolean => {
    const most = shares.base.map((share) => Math.min(1, (1 + overload) * share));
    return capacityUnderCaps(tree, shares.caps, most) >= wanted;
  };
  if (!fits(overloadMax)) return null;
  if (fits(0)) return 0;
  let low = 0;
  let high = overloadMax;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return Math.ceil(high * DIGITS) / DIGITS;
}
