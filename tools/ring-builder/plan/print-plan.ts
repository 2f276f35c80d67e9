// Prints a plan, and makes its part of the JSON documents. Pure.
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { printTable } from '@ringwright/base/print-table';
import type { DevicePlan, Plan } from '@ringwright/builder/plan/plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { formatDevice } from '@ringwright/ring/device';
import { movesListedMax } from './print-moves.ts';
import { remedyOf } from './print-plan-effects.ts';

const DEVICES_SHOWN_MAX = 50;

export function planDocument(plan: Plan): Readonly<Record<string, unknown>> {
  const { ring, version, parent, digest, moves, moveLowerBound, later, movesLeft } = plan;
  return {
    ring,
    version,
    parent,
    digest,
    moved: moves.length,
    moveLowerBound,
    optimum: plan.optimum,
    swapMoves: plan.swapMoves,
    movesLeft,
    partitionsMovingTwice: plan.partitionsMovingTwice,
    devices: plan.devices,
    ...(moves.length <= movesListedMax ? { moves } : {}),
    ...(movesLeft <= movesListedMax ? { later } : {}),
    // Too many to list here. After the commit, `moves RING list --json` lists them.
    movesOmitted:
      (moves.length <= movesListedMax ? 0 : moves.length) +
      (movesLeft <= movesListedMax ? 0 : movesLeft),
    warnings: plan.warnings,
  };
}

/** Returns the plan with further warnings. */
export function withWarnings(plan: Plan, more: readonly Finding[]): Plan {
  return { ...plan, warnings: [...plan.warnings, ...more] };
}

export function printPlan(
  plan: Plan,
  state: BuilderState,
  {
    inPlace,
    forSwift,
    effects,
  }: {
    /** The plan is a split or merge. */
    readonly inPlace: boolean;
    /** The ring's servers are Swift's. */
    readonly forSwift: boolean;
    /** Further lines, between the devices and the warnings. */
    readonly effects: readonly string[];
  },
): string[] {
  const { ring, version } = plan;
  const shown = plan.devices.slice(0, DEVICES_SHOWN_MAX);
  const hidden = plan.devices.length - shown.length;
  return [
    `${ring} version ${version}: ${inPlace ? filledText(plan) : movesText(plan)}`,
    '',
    ...printTable(shown, [
      { head: 'ID', cell: ({ id }) => `d${id}` },
      { head: 'DEVICE', cell: ({ id }) => nameOf(state, id) },
      { head: 'WEIGHT', cell: ({ id }) => state.devices[id]?.weight ?? 0 },
      { head: 'SHARE', cell: ({ share }) => Number(share.toFixed(2)) },
      { head: 'NOW', cell: ({ before }) => before },
      { head: 'AFTER', cell: ({ after }) => after },
      { head: 'IN', cell: ({ slotsIn }: DevicePlan) => slotsIn },
      { head: 'OUT', cell: ({ slotsOut }: DevicePlan) => slotsOut },
    ]),
    ...(hidden > 0 ? [`… and ${counted(hidden, 'device')} more: --json lists them`] : []),
    ...effects,
    '',
    ...plan.warnings.flatMap((warning) => {
      const remedy = remedyOf(warning, { ring, forSwift });
      return [
        `warning ${warning.code}: ${warning.message}`,
        ...(remedy === null ? [] : [`    helps: ${remedy}`]),
      ];
    }),
    `digest ${plan.digest}`,
  ];
}

function filledText({ moves }: Plan): string {
  return `${counted(moves.length, 'slot is', 'slots are')} filled where they lie; none moves`;
}

function movesText(plan: Plan): string {
  const { parent, moves, movesLeft, later } = plan;
  if (parent === null) return 'the first version, so nothing has to move';
  const left = movesLeft === 0 ? '' : `, ${movesLeft} in ${counted(later.length, 'later wave')}`;
  return `${counted(moves.length, 'slot moves', 'slots move')} (${provenFewest(plan)})${left}`;
}

function provenFewest(plan: Plan): string {
  const { swapMoves } = plan;
  return swapMoves === 0
    ? fewestOf(plan)
    : `${fewestOf(plan)}; ${swapMoves} more for even bytes, by --swap-budget`;
}

function fewestOf({ optimum, moveLowerBound }: Plan): string {
  if (optimum === null) return `at least ${moveLowerBound} must`;
  if (optimum.proof === 'bound') return `${moveLowerBound} must, so no plan has fewer`;
  return `shares demand ${moveLowerBound}, placement ${optimum.moves}: proved the fewest`;
}

function nameOf(state: BuilderState, id: number): string {
  const device = state.devices[id];
  if (!device) return 'gone';
  return `${formatDevice(device)}${device.state === 'removed' ? ' (removed)' : ''}`;
}
