// ring-builder drill: computes what a failure would do, without touching anything.
import { CodedError } from '@ringwright/base/coded-error';
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import { type Drill, drillRing } from '@ringwright/builder/analysis/drill';
import { hasRoom } from '@ringwright/builder/analysis/plan-traffic';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { type TierKind, tierName } from '@ringwright/builder/state/tier-name';
import { readVersion, stateOf } from '@ringwright/repository/folder/read-version';
import { usage } from '../../cli/arguments.ts';
import { type Command, flagOption } from '../../cli/command.ts';
import { printBytes } from '../../cli/print-bytes.ts';
import { askSizes, type ReportedSizes } from '../../plan/known-sizes.ts';
import { ringTargets } from '../../servers/ring-targets.ts';
import { deviceIdsOf } from '../../versions/device-reference.ts';

const SURVIVORS_SHOWN_MAX = 30;

export const command: Command = {
  positionals: {
    tier: {
      describe: 'device, server, zone or region',
      choices: ['device', 'server', 'zone', 'region'],
    },
    names: { describe: 'd3 or 10.0.0.1:6200/sdb; 10.0.0.1; r1z2 or 2; r1 or 1' },
  },
  options: {
    offline: flagOption('do not ask servers for sizes'),
  },
  examples: [
    [
      '$0 drill cities zone r1z2',
      'partitions below quorum, extra load, and whether the rest has room',
    ],
    ['$0 drill cities device d3 d7', 'two devices at once'],
  ],
  run: async (args, context) => {
    const ring = args.text('ring');
    const stored = await readVersion(context.rings, ring, 'head');
    const state = stateOf(stored);
    const tier = args.text('tier') as TierKind;
    const gone = devicesOf(state, tier, args.texts('names'));
    const drill = drillRing(stored.ring, state, gone);
    const targets = ringTargets(stored.ring, state);
    const sizes = args.flag('offline') ? null : await askSizes(ring, targets);
    const survivors = drill.survivors.map((one) => ({
      ...one,
      ...fitOf(one.id, one.slotsIn, sizes),
    }));
    const fits = survivors.some((one) => one.fits === false)
      ? false
      : survivors.every((one) => one.fits === true) && drill.unrecoverable === null
        ? true
        : null;
    const { version, moves } = stored.ring;
    const isBelowQuorum = drill.availability.belowWriteQuorum > 0;
    return {
      json: { ring, version, tier, inFlight: moves.length, ...drill, survivors, fits },
      lines: printDrill(drill, { ring, version, inFlight: moves.length, fits, survivors }),
      next: context.next(`${isBelowQuorum ? 'dispersion' : 'balance'} ${ring}`),
    };
  },
};

interface Fit {
  readonly bytesIn: number | null;
  readonly freeBytes: number | null;
  readonly fits: boolean | null;
}

function fitOf(id: number, slotsIn: number, sizes: ReportedSizes | null): Fit {
  const mean = sizes?.meanBytes ?? null;
  const bytesIn = mean === null ? null : Math.round(mean * slotsIn);
  const freeBytes = sizes?.deviceBytes(id)?.free ?? null;
  const fits = bytesIn === null || freeBytes === null ? null : hasRoom(freeBytes, bytesIn);
  return { bytesIn, freeBytes, fits };
}

function devicesOf(state: BuilderState, tier: TierKind, names: readonly string[]): number[] {
  if (names.length === 0)
    throw usage(`no ${tier} named`, `ring-builder drill ${state.ring} ${tier} NAME`);
  const devices = state.devices.filter((device) => device !== null);
  if (tier === 'device') return deviceIdsOf(state, names);
  return names.flatMap((name) => {
    const found = devices.filter(
      (device) => tierName(device, tier) === name || shortName(device, tier) === name,
    );
    if (found.length > 0) return found.map(({ id }) => id);
    const known = [...new Set(devices.map((device) => tierName(device, tier)))];
    throw new CodedError('DEVICE_UNKNOWN', `ring ${state.ring} has no ${tier} ${name}`, {
      hint: `there are ${known.slice(0, 10).join(', ')}`,
      details: { ring: state.ring, tier, name, known },
    });
  });
}

function shortName(device: Parameters<typeof tierName>[0], tier: TierKind): string {
  if (tier === 'server') return device.ip;
  return String(tier === 'zone' ? device.zone : device.region);
}

function printDrill(
  drill: Drill,
  facts: {
    readonly ring: string;
    readonly version: number;
    readonly inFlight: number;
    readonly fits: boolean | null;
    readonly survivors: readonly (Drill['survivors'][number] & Fit)[];
  },
): string[] {
  const { gone, availability: lost, worstSource, unrecoverable, recoveryMoves } = drill;
  const { ring, version, inFlight, fits, survivors } = facts;
  const names = gone.map((id) => `d${id}`).join(' ');
  const senders = survivors.filter(({ sources }) => sources > 0).length;
  const fit =
    fits === null
      ? 'it is unknown whether the data fits on the rest'
      : fits
        ? 'the data fits on the rest'
        : 'the data does NOT fit on the rest';
  const shown = [...survivors].sort((a, b) => b.slotsIn - a.slotsIn).slice(0, SURVIVORS_SHOWN_MAX);
  const moving = inFlight > 0 ? `, ${counted(inFlight, 'move')} in flight` : '';
  return [
    `${ring} version ${version}${moving}: without ${names}`,
    `${counted(lost.slotsLost, 'slot')} of ${counted(lost.partitionsHit, 'partition')} lost`,
    `below write quorum: ${lost.belowWriteQuorum}; below read quorum: ${lost.belowReadQuorum}; ` +
      `without any replica: ${lost.withoutReplica}`,
    unrecoverable === null
      ? `recovery: ${counted(recoveryMoves, 'slot moves', 'slots move')}; ` +
        `${counted(senders, 'device')} can send it, ` +
        `the busiest one ${worstSource.toFixed(2)} times the mean; ${fit}`
      : `recovery: none; ${unrecoverable.message}`,
    ...(shown.length === 0 ? [] : ['']),
    ...printTable(shown, [
      { head: 'ID', cell: ({ id }) => `d${id}` },
      { head: 'NOW', cell: ({ before }) => before },
      { head: 'EXTRA', cell: ({ slotsIn }) => slotsIn },
      { head: 'MORE', cell: (one) => percentMore(one) },
      { head: 'SENDS', cell: ({ sources }) => sources },
      { head: 'BYTES IN', cell: ({ bytesIn }) => (bytesIn === null ? '?' : printBytes(bytesIn)) },
      { head: 'FREE', cell: ({ freeBytes }) => (freeBytes === null ? '?' : printBytes(freeBytes)) },
    ]),
  ];
}

function percentMore({ before, slotsIn }: Drill['survivors'][number]): string {
  return before === 0 ? 'new' : `${((100 * slotsIn) / before).toFixed(0)} %`;
}
