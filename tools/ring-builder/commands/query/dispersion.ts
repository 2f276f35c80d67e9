// ring-builder dispersion: how the replicas of partitions are spread over regions, zones and
// servers.

import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { componentParts, type PartSettings } from '@ringwright/builder/analysis/component-parts';
import { type DomainSpread, domainSpreads } from '@ringwright/builder/analysis/domain-spread';
import { placementProblem } from '@ringwright/builder/placement/placement-problem';
import { denseHead } from '@ringwright/builder/plan/dense-head';
import { requiredOverload } from '@ringwright/builder/shares/required-overload';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { stateOf } from '@ringwright/repository/folder/read-version';
import { liveCountOf } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { type Command, flagOption, type Lines } from '../../cli/command.ts';
import { askedVersion, versionPositional } from '../../versions/version-reference.ts';
import { partSettings } from './part-settings.ts';

const ROWS_SHOWN_MAX = 60;

export const command: Command = {
  positionals: versionPositional,
  options: {
    'exit-code': flagOption('exit with 1 if slots are in the wrong place'),
  },
  examples: [['$0 dispersion cities', 'partitions with 0, 1, 2 … replicas in each domain']],
  run: async (args, context) => {
    const name = args.text('ring');
    const stored = await askedVersion(args, context);
    const { version } = stored.ring;
    const state = stateOf(stored);
    const known = await partSettings(context, state);
    const domains = domainSpreads(stored.ring, state, known.settings);
    const required = requiredBy(stored.ring, state);
    const wrong = domains.reduce((sum, one) => sum + one.tooMany + one.tooFew, 0);
    const beyondCap = domains.reduce((sum, one) => sum + overCap(one), 0);
    const { partitioner, replicas } = stored.ring;
    const partitions = liveCountOf(partitioner);
    return {
      json: {
        ring: name,
        version,
        partitions,
        replicas,
        overload: state.overload,
        requiredOverload: required,
        slotsWrong: wrong,
        slotsBeyondCap: beyondCap,
        domains,
      },
      lines: [
        `${name} version ${version}: ${counted(partitions, 'partition')} x ${counted(replicas, 'replica')}`,
        wrong === 0
          ? 'at every tier, every partition is as dispersed as the shares permit'
          : `${counted(wrong, 'slot is', 'slots are')} not where the shares permit: a rebalance fixes that`,
        ...known.lines,
        capLine(beyondCap, { overload: overloadText(state, known.settings), required }),
        '',
        ...printDomains(domains),
      ],
      next: context.next(nextCommand(state, wrong > 0)),
      exit: wrong > 0 && args.flag('exit-code') ? 1 : 0,
    };
  },
};

/**
 * Returns the required overload; null if no overload helps. For a composite ring: the largest that
 * a component needs, null if one cannot be helped.
 */
function requiredBy(ring: Ring, state: BuilderState): number | null {
  const parts = componentParts(ring, state);
  if (parts.length > 0) {
    const each = parts.map((part) => requiredBy(part.ring, part.state));
    return each.reduce((a, b) => (a === null || b === null ? null : Math.max(a, b)));
  }
  const { tree, shares } = placementProblem(denseHead(ring, state)?.state ?? state);
  return requiredOverload(tree, shares);
}

/** A composite ring has no plan and no overload of its own, only its components have. */
function nextCommand({ ring, components }: BuilderState, isWrong: boolean): string {
  if (components !== undefined)
    return isWrong ? `dispersion ${components[0]?.ring}` : `status ${ring}`;
  return isWrong ? `plan ${ring}` : `frontier ${ring}`;
}

/** Returns the overload; for a composite ring, that of each component, in order. */
function overloadText(
  { overload, components }: BuilderState,
  settings: readonly (PartSettings | null)[],
): string {
  if (components === undefined) return `${overload}`;
  return settings.map((one) => one?.overload ?? 'unknown').join(' and ');
}

function capLine(
  beyond: number,
  { overload, required }: { readonly overload: string; readonly required: number | null },
): string {
  if (beyond === 0) return `dispersion is perfect (overload ${overload}, required ${required})`;
  const remedy =
    required === null ? 'no overload avoids this' : `overload ${required} would avoid this`;
  return `${counted(beyond, 'replica shares', 'replicas share')} a failure domain unnecessarily; ${remedy}`;
}

function overCap({ cap, counts }: DomainSpread): number {
  if (cap === null) return 0;
  return counts.reduce((sum, partitions, held) => sum + partitions * Math.max(0, held - cap), 0);
}

function printDomains(domains: readonly DomainSpread[]): Lines {
  const most = domains.reduce((width, { counts }) => Math.max(width, counts.length), 0);
  const shown = domains.slice(0, ROWS_SHOWN_MAX);
  return [
    ...printTable(shown, [
      { head: 'TIER', cell: ({ tier }) => tier },
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'SLOTS', cell: ({ slots }) => slots },
      { head: 'ALLOWED', cell: ({ least, most: upper }) => `${least}..${upper}` },
      { head: 'WRONG', cell: ({ tooMany, tooFew }) => tooMany + tooFew },
      ...Array.from({ length: most }, (_, held) => ({
        head: `HOLD ${held}`,
        cell: ({ counts }: DomainSpread) => counts[held] ?? 0,
      })),
    ]),
    domains.length > shown.length && `… ${domains.length} domains in all: --json`,
  ];
}
