// Prints what a plan writes and sends, device by device. Pure.

import { counted } from '@ringwright/base/counted';
import { type Column, printTable } from '@ringwright/base/print-table';
import type { PlanBytes } from '@ringwright/builder/analysis/plan-bytes';
import type { DeviceTraffic, Traffic } from '@ringwright/builder/analysis/plan-traffic';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import type { Lines } from '../cli/command.ts';
import { MS_PER_HOUR } from '../cli/hours.ts';
import { printBytes, printSeconds } from '../cli/print-bytes.ts';

const DEVICES_SHOWN_MAX = 20;

/**
 * The traffic of a plan. `seconds`: time that the busiest device needs at --rate; null: unknown.
 */
export type TimedTraffic = Traffic & { readonly seconds: number | null };

/** For moves: the bytes copied between devices. */
export function printTraffic(traffic: TimedTraffic): string[] {
  const { bytes, busiest, seconds } = traffic;
  const time =
    seconds === null
      ? 'add --rate 50MB/s to see how long that takes'
      : `about ${printSeconds(seconds)}`;
  return [
    `${printBytes(bytes)} to copy${guessedText(traffic)}; ` +
      `most on d${busiest?.id}: ${printBytes(busiest?.bytes ?? 0)}; ${time}`,
    ...printTable(fullestOf(traffic), [
      idColumn,
      { head: 'BYTES IN', cell: ({ bytesIn }) => printBytes(bytesIn) },
      {
        head: 'BYTES OUT',
        cell: ({ bytesOut, isAway }) => (isAway ? 'none (away)' : printBytes(bytesOut)),
      },
      ...roomColumns,
    ]),
  ];
}

/** For a split or merge: the bytes that devices write beside their files. */
export function printFilled(traffic: TimedTraffic): string[] {
  const { bytes, busiest } = traffic;
  return [
    `${printBytes(bytes)} to write${guessedText(traffic)}, each device from its own files: ` +
      `nothing crosses the network; most on d${busiest?.id}: ${printBytes(busiest?.bytes ?? 0)}`,
    ...printTable(fullestOf(traffic), [
      idColumn,
      { head: 'WRITES', cell: ({ bytesIn }) => printBytes(bytesIn) },
      ...roomColumns,
    ]),
  ];
}

const idColumn: Column<DeviceTraffic> = { head: 'ID', cell: ({ id }) => `d${id}` };

const roomColumns: readonly Column<DeviceTraffic>[] = [
  { head: 'PEAK', cell: ({ peakBytes }) => (peakBytes === null ? '?' : printBytes(peakBytes)) },
  { head: 'FREE', cell: ({ freeBytes }) => (freeBytes === null ? '?' : printBytes(freeBytes)) },
  { head: 'FITS', cell: ({ fits }) => (fits === null ? '?' : fits ? 'yes' : 'NO') },
];

function guessedText({ guessed }: TimedTraffic): string {
  return guessed === 0 ? '' : `, with guessed sizes for ${guessed} of the files`;
}

function fullestOf({ devices }: TimedTraffic): DeviceTraffic[] {
  return [...devices].sort((a, b) => b.bytesIn - a.bytesIn).slice(0, DEVICES_SHOWN_MAX);
}

/** Prints nothing if no device holds anything. */
export function printPlanBytes(bytes: PlanBytes, state: BuilderState): Lines {
  const { devices, fullest, guessed } = bytes;
  const { sizes, ring } = state;
  if (fullest.before === null || fullest.after === null) return [];
  const shown = [...devices].sort((a, b) => b.after - a.after).slice(0, DEVICES_SHOWN_MAX);
  const measured =
    sizes === undefined
      ? `balance is by counts; ring-builder set ${ring} --balance bytes evens out bytes`
      : `with sizes of ${new Date(sizes.measuredHour * MS_PER_HOUR).toISOString().slice(0, 16)}Z`;
  return [
    '',
    `fullest device: ${fullest.before.toFixed(2)} x its share of the bytes now, ` +
      `${fullest.after.toFixed(2)} x after all moves (${measured})`,
    guessed !== 0 &&
      `the size of ${counted(guessed, 'partition')} is unknown: assumed to be the mean of the others`,
    ...printTable(shown, [
      { head: 'ID', cell: ({ id }) => `d${id}` },
      { head: 'BYTES NOW', cell: ({ before }) => printBytes(before) },
      { head: 'AFTER', cell: ({ after }) => printBytes(after) },
    ]),
  ];
}
