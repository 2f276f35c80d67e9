// ring-builder diff: shows what differs between two versions.

import type { Json } from '@ringwright/base/canonical-json';
import { counted } from '@ringwright/base/counted';
import { getOrMake } from '@ringwright/base/get-or-make';
import { printTable } from '@ringwright/base/print-table';
import { planTraffic } from '@ringwright/builder/analysis/plan-traffic';
import type { TierPlan } from '@ringwright/builder/analysis/tier-plans';
import { tierKinds, tierNamesById } from '@ringwright/builder/state/tier-name';
import { readLog } from '@ringwright/repository/folder/read-log';
import { readVersion, type StoredVersion } from '@ringwright/repository/folder/read-version';
import {
  diffRings,
  type MovedSlot,
  type RingDiff,
  type SettingChange,
} from '@ringwright/ring/diff-rings';
import type { Ring } from '@ringwright/ring/ring';
import { type Command, flagOption, type Lines } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { askSizes } from '../../plan/known-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { nameDevice } from '../../versions/device-reference.ts';
import { versionOf } from '../../versions/version-reference.ts';

const MOVES_LISTED_MAX = 10_000;
const PAIRS_SHOWN_MAX = 40;

export const command: Command = {
  positionals: {
    from: { describe: 'version; default: the one before `to`' },
    to: { describe: 'version; default: the head' },
  },
  options: {
    bytes: flagOption('ask servers for the sizes of the files'),
    'exit-code': flagOption('exit with 1 if they differ'),
  },
  examples: [
    ['$0 diff cities 3 7 --bytes', 'with bytes, from the current files of servers'],
    ['$0 diff cities', 'the last change'],
    ['$0 diff cities 3 @ --exit-code', 'everything since version 3'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const entries = await readLog(context.rings, ring);
    const to = versionOf(ring, entries, args.optionalText('to'));
    const from = versionOf(ring, entries, args.optionalText('from') ?? `${Math.max(1, to - 1)}`);
    const before = await readVersion(context.rings, ring, from);
    const after = await readVersion(context.rings, ring, to);
    const { moved, settings: ringSettings, ...rest } = diffRings(before.ring, after.ring);
    const diff = { ...rest, settings: [...ringSettings, ...stateSettings(before, after)] };
    const tiers = tierTraffic({ before: before.ring, after: after.ring }, moved);
    const sizes = args.flag('bytes')
      ? await askSizes(ring, ringTargets(after.ring, after.state))
      : null;
    // The moved slots are already at their new devices.
    const asPlanned = { heldBytes: () => 0, isAway: () => false };
    const traffic = sizes === null ? null : planTraffic(moved, { ...sizes, ...asPlanned });
    const differs =
      moved.length + diff.slotsAdded + diff.slotsRemoved + diff.movesStarted + diff.movesEnded >
        0 || diff.settings.length + printDevices(diff).length > 0;
    const moves = moved.length <= MOVES_LISTED_MAX ? { moves: moved } : {};
    return {
      json: { ring, from, to, differs, moved: moved.length, ...diff, tiers, traffic, ...moves },
      lines: differs
        ? [
            ...printDiff(`${ring} version ${from} to ${to}`, { moved, ...diff }),
            ...printTiers(tiers),
            ...(traffic === null ? [] : ['', `${printBytes(traffic.bytes)} of files moved`]),
          ]
        : [`${ring}: versions ${from} and ${to} do not differ`],
      next: context.next(`show ${ring} ${to}`),
      exit: differs && args.flag('exit-code') ? 1 : 0,
    };
  },
};

function printDiff(head: string, diff: RingDiff): Lines {
  const { moved, settings, pairs, movesStarted, movesEnded, slotsAdded, slotsRemoved } = diff;
  const hidden = pairs.length - PAIRS_SHOWN_MAX;
  return [
    `${head}: ${counted(moved.length, 'slot')} moved, ${counted(movesStarted, 'move')} began, ${movesEnded} ended`,
    slotsAdded > 0 && `${counted(slotsAdded, 'slot')} added`,
    slotsRemoved > 0 && `${counted(slotsRemoved, 'slot')} dropped, which is not a move`,
    ...settings.map(
      ({ name, before, after }) =>
        `~ ${name}: ${JSON.stringify(before)} to ${JSON.stringify(after)}`,
    ),
    ...printDevices(diff),
    pairs.length > 0 && '',
    ...printTable(pairs.slice(0, PAIRS_SHOWN_MAX), [
      { head: 'FROM', cell: ({ from }) => `d${from}` },
      { head: 'TO', cell: ({ to }) => `d${to}` },
      { head: 'SLOTS', cell: ({ slots }) => slots },
    ]),
    hidden > 0 && `… and ${counted(hidden, 'pair')} more: --json lists them`,
  ];
}

function printTiers(tiers: readonly TierTraffic[]): string[] {
  const shown = tiers
    .filter(({ slotsIn, slotsOut }) => slotsIn + slotsOut > 0)
    .slice(0, PAIRS_SHOWN_MAX);
  if (shown.length === 0) return [];
  return [
    '',
    ...printTable(shown, [
      { head: 'TIER', cell: ({ tier }) => tier },
      { head: 'NAME', cell: ({ name }) => name },
      { head: 'IN', cell: ({ slotsIn }) => slotsIn },
      { head: 'OUT', cell: ({ slotsOut }) => slotsOut },
    ]),
  ];
}

function shown(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

export function printDevices(
  diff: Pick<RingDiff, 'devicesAdded' | 'devicesRemoved' | 'devicesChanged'>,
): string[] {
  return [
    ...diff.devicesAdded.map((device) => `+ ${nameDevice(device)} weight ${device.weight}`),
    ...diff.devicesRemoved.map((device) => `- ${nameDevice(device)}`),
    ...diff.devicesChanged.map(({ before, after, fields }) => {
      const changes = fields.map(
        (field) => `${field} ${shown(before[field])} to ${shown(after[field])}`,
      );
      return `~ ${nameDevice(after)}: ${changes.join(', ')}`;
    }),
  ];
}

/** Compares settings and device states that only the builder state has. */
function stateSettings(
  { state: before }: StoredVersion,
  { state: after }: StoredVersion,
): SettingChange[] {
  if (before === null || after === null) return [];
  const plain = new Set(['devices', 'ring', 'cluster', 'partitioner', 'replicas', 'swift']);
  const was = new Map<string, unknown>(Object.entries(before));
  const is = new Map<string, unknown>(Object.entries(after));
  const names = [...new Set([...was.keys(), ...is.keys()])].filter((name) => !plain.has(name));
  const settings = names.map((name) => [name, json(was.get(name)), json(is.get(name))] as const);
  const states = after.devices.flatMap((device, id) => {
    const deviceBefore = before.devices[id] ?? null;
    if (device === null || deviceBefore === null || deviceBefore.state === device.state) return [];
    return [[`state of d${id}`, deviceBefore.state, device.state] as const];
  });
  return [...settings, ...states]
    .filter(([, old, now]) => JSON.stringify(old) !== JSON.stringify(now))
    .map(([name, old, now]) => ({ name, before: old, after: now }));
}

/** Members of the state are plain JSON; a missing one is null. */
function json(value: unknown): Json {
  return (value ?? null) as Json;
}

type TierTraffic = Pick<TierPlan, 'tier' | 'name' | 'slotsIn' | 'slotsOut'>;

/**
 * Counts slots that moved between regions, zones and servers; names without any are omitted. A
 * device counts where the later ring has it; a removed one, where it was.
 */
function tierTraffic(
  { before, after }: { readonly before: Ring; readonly after: Ring },
  moved: readonly MovedSlot[],
): TierTraffic[] {
  return tierKinds.slice(0, -1).flatMap((tier) => {
    const [oldNames, newNames] = [before, after].map(({ devices }) => tierNamesById(devices, tier));
    const found = new Map<string, { slotsIn: number; slotsOut: number }>();
    const trafficOf = (name: string) => getOrMake(found, name, () => ({ slotsIn: 0, slotsOut: 0 }));
    const nameOf = (id: number): string => newNames?.[id] || oldNames?.[id] || 'gone';
    for (const { from, to } of moved) {
      const [left, joined] = [nameOf(from), nameOf(to)];
      if (left === joined) continue;
      trafficOf(left).slotsOut += 1;
      trafficOf(joined).slotsIn += 1;
    }
    return [...found].map(([name, traffic]) => ({ tier, name, ...traffic }));
  });
}
