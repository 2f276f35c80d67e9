// What an operator should know before committing a plan. Warnings never change an exit code. Pure.
import { must } from '@ringwright/base/assert';
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import type { Placement } from '../placement/placement.ts';
import type { PlacementProblem } from '../placement/placement-problem.ts';
import { partitionsBelow } from '../placement/zone-rule.ts';
import { requiredOverload } from '../shares/required-overload.ts';
import { SHARE_EPSILON } from '../shares/shares.ts';
import type { BuilderState } from '../state/builder-state.ts';
import { namedPartition } from '../state/named-partition.ts';
import { someOf } from '../state/some-of.ts';
import { tierKinds, tierName } from '../state/tier-name.ts';
import { deviceBelow, tierNames } from '../state/tier-tree.ts';
import type { Plan } from './plan.ts';

/** Partitions or devices named in a message; the details name all. */
const NAMED_MAX = 5;

/** The parts of a plan from which warnings are derived. */
interface Outcome extends Pick<Plan, 'devices' | 'moves' | 'movesLeft' | 'partitionsMovingTwice'> {
  /** Number of partitions that may not move yet. */
  readonly frozen: number;
  /** The placement after all waves. */
  readonly goal: Placement;
}

export function planWarnings(
  state: BuilderState,
  problem: PlacementProblem,
  outcome: Outcome,
): Finding[] {
  return [
    ...overShare(outcome),
    ...brokenHolds(state, outcome),
    ...undispersed(state, problem),
    ...movingTwice(outcome),
    ...frozenOnes(state, outcome),
    ...leftForLater(outcome),
    ...pinFindings(state, problem),
    ...zonesUnmet(state, problem, outcome),
  ];
}

function overShare({ devices }: Outcome): Finding[] {
  const over = devices
    .filter(({ after, share }) => after > Math.ceil(share))
    .sort((a, b) => b.after - b.share - (a.after - a.share) || a.id - b.id);
  const worst = over[0];
  if (worst === undefined) return [];
  const more = counted(over.length - 1, 'more device is over its', 'more devices are over theirs');
  const others = over.length > 1 ? ` (and ${more})` : '';
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

/** Returns a finding when partitions have too few devices without a hold, or a pin overrides one. */
function brokenHolds({ devices: all }: BuilderState, { devices }: Outcome): Finding[] {
  const broken = devices.filter(({ id, slotsIn, slotsOut }) => {
    const hold = all[id]?.state === 'active' ? all[id].hold : undefined;
    return hold !== undefined && (slotsIn > 0 || (hold === 'maintenance' && slotsOut > 0));
  });
  if (broken.length === 0) return [];
  const words = broken.map(({ id, slotsIn, slotsOut }) =>
    slotsIn > 0
      ? `d${id} gets ${counted(slotsIn, 'slot')}`
      : `d${id} loses ${counted(slotsOut, 'slot')}`,
  );
  return [
    {
      code: 'HOLDS_UNMET',
      message:
        `${counted(broken.length, 'device changes', 'devices change')} despite maintenance: ` +
        someOf(words, NAMED_MAX),
      details: { devices: broken.map(({ id, slotsIn, slotsOut }) => ({ id, slotsIn, slotsOut })) },
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
    const device = must(state.devices[deviceBelow(tree, worst)], 'the tree has no holes');
    const needed = requiredOverload(tree, shares);
    const remedy =
      needed === null ? 'no overload avoids this' : `an overload of ${needed} would allow it`;
    findings.push({
      code: 'DISPERSION_UNREACHABLE',
      message:
        `${tier} ${tierName(device, tier)} wants ` +
        `${shares.wanted[worst]!.toFixed(3)} replicas of each partition, but ` +
        `${shares.caps[worst]} is the most that dispersion allows; ${remedy}`,
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

function movingTwice({ partitionsMovingTwice: count }: Outcome): Finding[] {
  if (count === 0) return [];
  return [
    {
      code: 'PARTITIONS_MOVE_TWICE',
      message:
        `${counted(count, 'partition moves', 'partitions move')} more than one slot at once, ` +
        'because removed devices held more than one',
      details: { partitions: count },
    },
  ];
}

function frozenOnes(state: BuilderState, { frozen }: Outcome): Finding[] {
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

export function leftForLater({ moves, movesLeft }: Pick<Plan, 'moves' | 'movesLeft'>): Finding[] {
  if (movesLeft === 0) return [];
  return [
    {
      code: 'MOVES_LEFT',
      message:
        `${counted(moves.length, 'move')} in this version, ` +
        `${counted(movesLeft, 'is', 'are')} left for later versions`,
      details: { moves: moves.length, movesLeft },
    },
  ];
}

/** Returns the findings on pins that reduce dispersion, and on pins that cannot be kept. */
function pinFindings(state: BuilderState, { tree, targets }: PlacementProblem): Finding[] {
  const worse = [...(targets.own ?? [])].flatMap(([partition, { dispersed }]) =>
    dispersed ? [] : [namedPartition(state, partition)],
  );
  const unmet = (state.pins ?? []).flatMap(({ partition, on }) =>
    on
      .filter((id) => (tree.leafOfDevice[id] ?? -1) < 0)
      .map((id) => ({ partition: namedPartition(state, partition), id })),
  );
  const findings: Finding[] = [];
  if (worse.length > 0) {
    findings.push({
      code: 'PINS_BREAK_DISPERSION',
      message:
        `pins keep ${counted(worse.length, 'partition')} from being dispersed as shares permit ` +
        `(${someOf(worse, NAMED_MAX)}), as closely as the pins permit`,
      details: { partitions: worse },
    });
  }
  if (unmet.length > 0) {
    const words = unmet.map(({ partition, id }) => `${partition} on d${id}`);
    findings.push({
      code: 'PINS_UNMET',
      message:
        `${counted(unmet.length, 'pin has', 'pins have')} no effect yet; devices hold nothing: ` +
        someOf(words, NAMED_MAX),
      details: { pins: unmet },
    });
  }
  return findings;
}

/** Shares keep the rule of the least zones, or are refused. Devices in maintenance and pins may not. */
function zonesUnmet(state: BuilderState, { tree }: PlacementProblem, { goal }: Outcome): Finding[] {
  const { zonesMin } = state;
  if (zonesMin === undefined) return [];
  const partitions = partitionsBelow(tree, goal, zonesMin).map((one) => namedPartition(state, one));
  if (partitions.length === 0) return [];
  const what = counted(partitions.length, 'partition');
  return [
    {
      code: 'ZONES_UNMET',
      message:
        `maintenance or pins leave ${what} in fewer than ${counted(zonesMin, 'zone')} ` +
        `(${someOf(partitions, NAMED_MAX)}), although zones-min is ${zonesMin}`,
      details: { partitions, zonesMin },
    },
  ];
}
