// Shows what a plan means for tiers, safety and disks, as tables and in the JSON document. Pure.

import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { printTable } from '@ringwright/base/print-table';
import { movesAtRisk, type TierRisk } from '@ringwright/builder/analysis/moves-at-risk';
import { type PlanBytes, planBytes } from '@ringwright/builder/analysis/plan-bytes';
import { planTraffic } from '@ringwright/builder/analysis/plan-traffic';
import { type ReplicaLoss, replicaLoss } from '@ringwright/builder/analysis/replica-loss';
import { type TierPlan, tierPlans } from '@ringwright/builder/analysis/tier-plans';
import { allMoves } from '@ringwright/builder/plan/later-waves';
import { givenUpBy, wantedIntervals } from '@ringwright/builder/plan/plan-reshape';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Ring } from '@ringwright/ring/ring';
import type { Lines } from '../cli/command.ts';
import { printBytes } from '../cli/print-bytes.ts';
import type { PlanToCommit } from './commit-plan.ts';
import type { ReportedSizes } from './known-sizes.ts';
import { type LackingRoom, lackingRoom } from './lacking-room.ts';
import { type PlanWithoutServers, planAway, planAwayLines } from './plan-away.ts';
import {
  printFilled,
  printPlanBytes,
  printTraffic,
  type TimedTraffic,
} from './print-plan-traffic.ts';

const TIERS_SHOWN_MAX = 40;

export interface PlanEffects {
  /** A split or merge: devices fill new files from their own, and no byte crosses the network. */
  readonly inPlace: boolean;
  readonly tiers: readonly TierPlan[];
  readonly risk: readonly TierRisk[];
  /** Replicas that end; null if none does. */
  readonly ends: ReplicaLoss | null;
  /** Null if nothing moves, or no server reported its file sizes. */
  readonly traffic: TimedTraffic | null;
  /** Bytes held by devices before and after; null if no size is known. */
  readonly bytes: PlanBytes | null;
  /** Retired partitions, and the sum of their largest files; null: unknown. */
  readonly givenUp: {
    readonly partitions: readonly number[];
    readonly bytes: number | null;
  } | null;
  /** Servers asked for sizes, and those that answered. */
  readonly asked: number;
  readonly answered: number;
  /** What missing answers mean; null if all answered. */
  readonly away: PlanWithoutServers | null;
  readonly lacking: readonly LackingRoom[];
}

type PlannedFrom = Pick<PlanToCommit, 'plan' | 'direct' | 'state'> & {
  readonly head: { readonly ring: Ring } | null;
};

export function planEffects(
  { plan, head: from, direct, state }: PlannedFrom,
  {
    sizes,
    rate,
  }: {
    readonly sizes: ReportedSizes | null;
    /** Bytes per second that a device sends or receives. */
    readonly rate: number | null;
  },
): PlanEffects {
  const head = from?.ring ?? null;
  const { components } = state;
  const traffic = sizes === null ? null : planTraffic(allMoves(plan), sizes);
  const busiest = traffic?.busiest?.bytes ?? null;
  const inPlace = head !== null && wantedIntervals(head, state) !== null;
  const seconds = rate === null || busiest === null || inPlace ? null : busiest / rate;
  return {
    inPlace,
    tiers: tierPlans(state, plan.devices, plan.moves),
    ends: head === null ? null : replicaLoss(head, state.replicas),
    // If no server has the ring, nothing is copied and nothing is at risk. The same holds if no
    // slot changes its device.
    risk: head === null || direct || inPlace ? [] : movesAtRisk(head, plan.moves, state),
    traffic: traffic === null ? null : { ...traffic, seconds },
    bytes: head === null ? null : planBytes(plan, { head, state }, sizeOf(state, sizes)),
    givenUp: head === null ? null : givenUpOf(head, state, sizes),
    asked: sizes?.asked ?? 0,
    answered: sizes?.answered ?? 0,
    away: head === null ? null : planAway(head, allMoves(plan), sizes?.away ?? []),
    lacking: head === null ? [] : lackingRoom({ ...head, components }, traffic?.devices ?? []),
  };
}

function givenUpOf(
  head: Ring,
  state: BuilderState,
  sizes: ReportedSizes | null,
): PlanEffects['givenUp'] {
  const partitions = givenUpBy(head, state);
  if (partitions.length === 0) return null;
  const known = partitions.map((id) => sizes?.partitionBytes(id) ?? null);
  const knownSizes = known.filter((size) => size !== null);
  const bytes = knownSizes.reduce((sum, size) => sum + size, 0);
  return { partitions, bytes: knownSizes.length < known.length ? null : bytes };
}

/** Returns sizes from which the plan was made, otherwise those that servers report now. */
function sizeOf({ sizes }: BuilderState, askedSizes: ReportedSizes | null) {
  return (partition: number): number | null => {
    if (sizes === undefined) return askedSizes?.valueBytes(partition) ?? null;
    const level = sizes.levels[partition] ?? null;
    return level === null ? null : level * sizes.unit;
  };
}

/** `head`: the ring from which the effects were planned. */
export function printEffects(
  effects: PlanEffects,
  { head, state }: { readonly head: Ring | null; readonly state: BuilderState },
): Lines {
  const { inPlace, tiers, risk, ends, traffic, bytes, away, givenUp } = effects;
  return [
    '',
    ...printTiers(tiers),
    ...(ends === null ? [] : ['', ...endLines(ends)]),
    ...(givenUp === null ? [] : ['', givenUpLine(givenUp)]),
    ...(risk.some(isAtRisk) ? ['', ...risk.filter(isAtRisk).map(riskLine)] : []),
    ...(traffic === null ? [] : ['', ...(inPlace ? printFilled : printTraffic)(traffic)]),
    ...(bytes === null ? [] : printPlanBytes(bytes, state)),
    ...(away === null || head === null ? [] : ['', ...planAwayLines(head, away)]),
  ];
}

/** Counts partitions at risk: while the plan runs, or because replicas or all records end. */
export function partitionsAtRisk({
  risk,
  ends,
  givenUp,
}: Pick<PlanEffects, 'risk' | 'ends' | 'givenUp'>): number {
  return Math.max(
    givenUp?.partitions.length ?? 0,
    ends?.fragile ?? 0,
    ends?.single ?? 0,
    ...risk.filter(isAtRisk).map((one) => one.while),
  );
}

function givenUpLine({ partitions, bytes }: NonNullable<PlanEffects['givenUp']>): string {
  const size = bytes === null ? 'of unknown size' : `${printBytes(bytes)} per replica`;
  return `at risk: ${counted(partitions.length, 'partition is', 'partitions are')} dropped, ${size}`;
}

function endLines({ before, after, slots, single, fragile }: ReplicaLoss): Lines {
  return [
    `${counted(slots, 'slot ends', 'slots end')} without a move: replicas change from ${before} to ${after}`,
    single > 0 &&
      `at risk: ${counted(single, 'partition keeps', 'partitions keep')} one replica; if its device fails, the records are lost`,
    fragile > single &&
      `at risk: ${counted(fragile - single, 'partition then needs', 'partitions then need')} every replica for a write quorum`,
  ];
}

function printTiers(tiers: readonly TierPlan[]): Lines {
  const shown = tiers.slice(0, TIERS_SHOWN_MAX);
  const hidden = tiers.length - shown.length;
  return [
    ...printTable(shown, [
      { head: 'TIER', cell: ({ tier }) => tier },
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'SHARE', cell: ({ share }) => Number(share.toFixed(2)) },
      { head: 'NOW', cell: ({ before }) => before },
      { head: 'AFTER', cell: ({ after }) => after },
      { head: 'IN', cell: ({ slotsIn }) => slotsIn },
      { head: 'OUT', cell: ({ slotsOut }) => slotsOut },
    ]),
    hidden > 0 && `… and ${counted(hidden, 'tier')} more: --json lists them`,
  ];
}

/** Omits a tier with a single domain, whose failure is not a risk of this plan. */
function isAtRisk(risk: TierRisk): boolean {
  return risk.while > 0 && risk.domains > 1;
}

function riskLine({ tier, before, while: during, after }: TierRisk): string {
  const all = counted(
    during,
    'moving partition falls below its',
    'moving partitions fall below their',
  );
  return (
    `at risk: ${all} write quorum if one ${tier} fails ` +
    `during the moves (now ${before}, afterwards ${after})`
  );
}

/** Returns warnings that only running servers could reveal. */
export function effectWarnings({ lacking }: PlanEffects): Finding[] {
  return lacking.map(({ device, message, remedy }): Finding => {
    const { id, bytesIn, freeBytes, diskBytes } = device;
    const details = { id, bytesIn, freeBytes, diskBytes, remedy };
    return { code: 'DISK_TOO_SMALL', message, details };
  });
}

/** Returns the command that helps with a warning, or null. */
export function remedyOf(
  { code, details }: Finding,
  { ring, forSwift }: { readonly ring: string; readonly forSwift: boolean },
): string | null {
  const known = details as Readonly<Record<string, unknown>> | undefined;
  const required = known?.['requiredOverload'];
  switch (code) {
    case 'DISPERSION_UNREACHABLE':
      return typeof required === 'number'
        ? `set ${ring} --overload ${required}; frontier ${ring} shows what each overload costs`
        : `frontier ${ring} shows what each overload would do`;
    case 'RAMP_WAITS':
      return `plan ${ring} --step-ramps`;
    case 'MOVES_LEFT':
      return forSwift
        ? 'commit again when Swift has replicated this version'
        : `rollout ${ring} carries them out by itself`;
    case 'PARTITIONS_FROZEN':
      return `set ${ring} --min-part-hours 0 lifts the rule`;
    case 'PARTITIONS_MOVE_TWICE':
      return `unstage ${ring}, then drain with set-weight ${ring} DEVICE 0 if the device still works`;
    case 'DISK_TOO_SMALL':
      return typeof known?.['remedy'] === 'string' ? known['remedy'] : null;
    case 'DEVICE_OVER_SHARE':
      return `balance ${ring} shows all devices; plan ${ring} after this version continues`;
    case 'HOLDS_UNMET':
      return `maintenance ${ring} DEVICE --off ends it; or unstage ${ring}, and add devices first`;
    case 'DEVICES_LIFTED':
      return `unstage ${ring}, then commit the removal or the new replicas first, and the rest afterwards`;
    case 'PINS_BREAK_DISPERSION':
    case 'PINS_UNMET':
      return `unpin ${ring} PARTITION, or change the pin`;
    case 'ZONES_UNMET':
      return `maintenance ${ring} DEVICE --off or unpin ${ring} PARTITION; or add devices in another zone`;
    default:
      return null;
  }
}
