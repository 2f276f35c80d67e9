// Presents a plan for review, for plan and revert: document, lines, and the command to type.
import { counted } from '@ringwright/base/counted';
import type { Finding } from '@ringwright/base/finding';
import { printTable } from '@ringwright/base/print-table';
import type { DevicePlan, Plan } from '@ringwright/builder/plan/plan';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { ChangeGuard } from '@ringwright/repository/judge-version';
import { formatDevice } from '@ringwright/ring/device';
import type { Context, Lines } from '../cli/command.ts';
import { isForSwift } from '../versions/last-push.ts';
import { endedRamps, type PlanToCommit, plannedGuard } from './commit-plan.ts';
import { commitOptions } from './commit-rules.ts';
import { roomFirst } from './lacking-room.ts';
import { movesListedMax } from './print-moves.ts';
import { effectWarnings, type PlanEffects, printEffects, remedyOf } from './print-plan-effects.ts';

/** Throws TRUST_INVALID. */
export async function reviewedPlan(context: Context, inputs: PlanToCommit, effects: PlanEffects) {
  const { opened, state, head } = inputs;
  const { lacking, ...effectsJson } = effects;
  const guard = await plannedGuard(context, inputs);
  const warnings = [...endedRamps(inputs), ...effectWarnings(effects), ...guardWarnings(guard)];
  const plan = { ...inputs.plan, warnings: [...inputs.plan.warnings, ...warnings] };
  const printed = printEffects(effects, { head: head?.ring ?? null, state });
  return {
    json: { ...planDocument(plan), ...effectsJson, brake: guard },
    /** Adds further lines after the effects. */
    lines: (further: Lines): Lines =>
      printPlan(plan, state, {
        inPlace: effects.inPlace,
        forSwift: isForSwift(opened.entries),
        effects: [...printed, ...further],
      }),
    /**
     * Returns the command that makes disk space first, or else the command with the options it
     * needs.
     */
    next: (command: string, options = ''): string =>
      roomFirst(lacking) ?? `${command} ${commitOptions(plan, guard, lacking)}${options}`,
  };
}

/** The change guard's warning: a commit needs two signatures or a reason. */
function guardWarnings(guard: ChangeGuard | null): Finding[] {
  if (guard === null) return [];
  const { large, size, override, secondSignature } = guard;
  const message = `a large change, ${large}; ${whatItNeeds(guard)}`;
  return [{ code: 'BRAKE', message, details: { ...size, override, secondSignature } }];
}

function whatItNeeds({ override, secondSignature }: ChangeGuard): string {
  const reason = 'a commit needs --override REASON, which is logged';
  if (!secondSignature) return override ? reason : 'the root of trust does not allow it at all';
  const second = 'a commit waits for a second signature (ring-builder sign)';
  return override ? `${second}, or needs --override REASON, which is logged` : second;
}

const DEVICES_SHOWN_MAX = 50;

function planDocument(plan: Plan): Readonly<Record<string, unknown>> {
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

function printPlan(
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
    readonly effects: Lines;
  },
): Lines {
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
    hidden > 0 && `… and ${counted(hidden, 'device')} more: --json lists them`,
    ...effects,
    '',
    ...plan.warnings.flatMap((warning) => {
      const remedy = remedyOf(warning, { ring, forSwift });
      return [
        `warning ${warning.code}: ${warning.message}`,
        remedy !== null && `    remedy: ${remedy}`,
      ];
    }),
    `digest ${plan.digest}`,
  ];
}

function filledText({ moves }: Plan): string {
  return `${counted(moves.length, 'slot is', 'slots are')} filled in place; none moves`;
}

function movesText(plan: Plan): string {
  const { parent, moves, movesLeft, later } = plan;
  if (parent === null) return 'first version, nothing to move';
  const left = movesLeft === 0 ? '' : `, ${movesLeft} in ${counted(later.length, 'later wave')}`;
  return `${counted(moves.length, 'slot moves', 'slots move')} (${provenFewest(plan)})${left}`;
}

function provenFewest(plan: Plan): string {
  const { swapMoves } = plan;
  return swapMoves === 0
    ? fewestOf(plan)
    : `${fewestOf(plan)}; ${swapMoves} more to even out bytes (--swap-budget)`;
}

function fewestOf({ optimum, moveLowerBound }: Plan): string {
  if (optimum === null) return `at least ${moveLowerBound} necessary`;
  if (optimum.proof === 'bound') return `${moveLowerBound} necessary, so no plan has fewer`;
  return `shares require ${moveLowerBound}, placement ${optimum.moves}: proved to be the fewest`;
}

function nameOf(state: BuilderState, id: number): string {
  const device = state.devices[id];
  if (!device) return 'gone';
  return `${formatDevice(device)}${device.state === 'removed' ? ' (removed)' : ''}`;
}
