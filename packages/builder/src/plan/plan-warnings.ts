// What an operator should know before committing a plan. Pure; warnings never change an exit code.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import type { Device } from '@ringwright/ring/device';
import type { PlacementProblem } from '../place/placement-problem.ts';
import { requiredOverload } from '../shares/required-overload.ts';
import { SHARE_EPSILON } from '../shares/shares.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { tierKinds, tierName } from '../state/tier-name.ts';
import { tierNames } from '../state/tier-tree.ts';
import { devicePlans, type PlanOutcome } from './plan-devices.ts';

export function planWarnings(
  state: BuilderState,
  problem: PlacementProblem,
  outcome: PlanOutcome,
): Finding[] {
  return [
    ...overShare(state, problem, outcome),
    ...undispersed(state, problem),
    ...movingTwice(outcome),
    ...frozenOnes(state, outcome),
    ...leftForLater(outcome),
  ];
}

function overShare(
  state: BuilderState,
  problem: PlacementProblem,
  outcome: PlanOutcome,
): Finding[] {
  const over = devicePlans(state, problem, outcome)
    .filter(({ after, share }) => after > Math.ceil(share))
    .sort((a, b) => b.after - b.share - (a.after - a.share) || a.id - b.id);
  const worst = over[0];
  if (worst === undefined) return [];
  const others = over.length > 1 ? ` (and ${over.length - 1} more devices are over theirs)` : '';
  return [
    {
      code: 'DEVICE_OVER_SHARE',
      message:
        `d${worst.id} will hold ${worst.after} slots, ` +
        `its share is ${worst.share.toFixed(2)}${others}`,
      details: { id: worst.id, after: worst.after, share: worst.share, devices: over.length },
    },
  ];
}

function undispersed(state: BuilderState, { tree, shares }: PlacementProblem): Finding[] {
  const findings: Finding[] = [];
  for (const tier of tierKinds.slice(0, -1)) {
    const level = tierNames.indexOf(tier);
    let worst = -1;
    let worstExcess = SHARE_EPSILON;
    for (let v = 0; v < tree.firstLeaf; v += 1) {
      const excess = shares.wanted[v]! - shares.caps[v]!;
      if (tree.level[v] !== level || excess <= worstExcess) continue;
      worst = v;
      worstExcess = excess;
    }
    if (worst < 0) continue;
    const needed = requiredOverload(tree, shares);
    const remedy =
      needed === null ? 'no overload helps' : `an overload of ${needed} would let it fit`;
    findings.push({
      code: 'DISPERSION_UNREACHABLE',
      message:
        `${tier} ${tierName(deviceIn(state, tree, worst), tier)} wants ` +
        `${shares.wanted[worst]!.toFixed(3)} replicas of each partition, where ` +
        `${shares.caps[worst]} is the most for dispersion; ${remedy}`,
      details: {
        tier,
        wanted: shares.wanted[worst],
        cap: shares.caps[worst],
        overload: state.overload,
        requiredOverload: needed,
      },
    });
  }
  return findings;
}

/** Any of a failure domain: all have its name. */
function deviceIn(state: BuilderState, tree: PlacementProblem['tree'], node: number): Device {
  let v = node;
  while (v < tree.firstLeaf) v = tree.firstChild[v]!;
  return must(state.devices[tree.deviceIds[v - tree.firstLeaf]!], 'the tree has no holes');
}

function movingTwice({ partitionsMovingTwice: count }: PlanOutcome): Finding[] {
  if (count === 0) return [];
  return [
    {
      code: 'PARTITIONS_MOVE_TWICE',
      message:
        `${count} partitions move more than one slot at once, ` +
        'because removed devices held more than one',
      details: { partitions: count },
    },
  ];
}

function frozenOnes(state: BuilderState, { frozen }: PlanOutcome): Finding[] {
  if (frozen === 0) return [];
  return [
    {
      code: 'PARTITIONS_FROZEN',
      message:
        `${counted(frozen, 'partition')} changed less than ` +
        `${counted(state.minPartHours, 'hour')} ago and ${frozen === 1 ? 'stays' : 'stay'} in place`,
      details: { partitions: frozen, minPartHours: state.minPartHours },
    },
  ];
}

function leftForLater({ moves, movesLeft }: PlanOutcome): Finding[] {
  if (movesLeft === 0) return [];
  return [
    {
      code: 'MOVES_LEFT',
      message: `${moves.length} moves in this version, ${movesLeft} are left for later versions`,
      details: { moves: moves.length, movesLeft },
    },
  ];
}
