// The input of a placement: the tree, shares and targets of a builder state. Pure.

import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { type Ring, slotCount } from '@ringwright/ring/ring';
import { computeShares, type Shares } from '../shares/shares.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { checkPartitioner } from '../state/setting-ranges.ts';
import { buildTree, type TierTree } from '../state/tier-tree.ts';
import { loadsOf } from './placement.ts';
import { computeTargets, type Targets, targetsOfLeaves } from './targets.ts';
import { walkPlacement } from './walk-placement.ts';
import { zonesKept } from './zone-rule.ts';

export interface PlacementProblem {
  readonly tree: TierTree;
  readonly shares: Shares;
  readonly targets: Targets;
  readonly ring: Pick<Ring, 'partitions' | 'replicas'>;
}

/** Throws REPLICAS_EXCEED_DEVICES and ZONES_UNREACHABLE, each with both numbers. */
export function placementProblem(state: BuilderState): PlacementProblem {
  const partitions = checkPartitioner(state.partitioner);
  const tree = buildTree(state.devices);
  const needed = Math.ceil(state.replicas);
  if (tree.leaves < needed) throw tooFewDevices(state, tree.leaves);
  const slots = slotCount(partitions, state.replicas);
  const settings = { replicas: slots / partitions, overload: state.overload };
  const fair = computeShares(tree, settings);
  const plain = { shares: fair, targets: computeTargets(tree, fair, { partitions, slots }) };
  const { shares, targets } = zonesKept(tree, plain, { ...settings, state, partitions, slots });
  const problem = { tree, shares, targets, ring: { partitions, replicas: state.replicas } };
  return state.placement === 'tokens' ? walkProblem(state, problem) : problem;
}

/**
 * Returns the problem whose shares are the result of the walk, without bounds on tiers. Figures
 * then show how far a table is from the walk, and the walk itself puts no device above its share.
 */
function walkProblem(state: BuilderState, problem: PlacementProblem): PlacementProblem {
  const { tree, ring } = problem;
  const placement = walkPlacement(state, tree);
  const leaves = Float64Array.from(loadsOf(placement, tree).subarray(tree.firstLeaf));
  const { partitions } = ring;
  const targets = targetsOfLeaves(tree, leaves, { partitions, slots: placement.slots });
  targets.low.fill(0);
  targets.high.fill(placement.most, 0, tree.firstLeaf).fill(1, tree.firstLeaf);
  const wanted = Float64Array.from(targets.exact, (slots) => slots / partitions);
  const caps = Int32Array.from(wanted, Math.ceil);
  return { ...problem, targets, shares: { ...problem.shares, wanted, caps } };
}

/** The hint names the remedies: more devices, fewer replicas, or undoing a removal or drain. */
function tooFewDevices({ ring, replicas, ...state }: BuilderState, devices: number): CodedError {
  const needed = Math.ceil(replicas);
  const drained = state.devices.find((one) => one?.state === 'active' && one.weight === 0);
  const restoreCommand = drained
    ? `ring-builder set-weight ${ring} d${drained.id} WEIGHT, or `
    : '';
  const add = `${restoreCommand}ring-builder add ${ring} DEVICE WEIGHT`;
  const fewer = devices === 0 ? '' : `, or ring-builder set ${ring} --replicas ${devices}`;
  return new CodedError(
    'REPLICAS_EXCEED_DEVICES',
    `${counted(replicas, 'replica needs', 'replicas need')} ${counted(needed, 'device')} with weight, but there are ${devices}`,
    {
      hint: `${add}${fewer}; ring-builder unstage ${ring} discards staged changes`,
      details: { replicas, devices },
    },
  );
}
