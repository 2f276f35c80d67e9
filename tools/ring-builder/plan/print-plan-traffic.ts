// What a plan writes and sends, device by device, for people. Pure.
import { type Column, printTable } from '@ringwright/base/print-table';
import type { DeviceTraffic, Traffic } from '@ringwright/builder/ask/plan-traffic';
import { printBytes, printSeconds } from '../cli/print-bytes.ts';

const DEVICES_SHOWN_MAX = 20;

export type ToldTraffic = Traffic & { readonly seconds: number | null };

/** Of moves: what goes from device to device. */
export function printTraffic(traffic: ToldTraffic): string[] {
  const { bytes, busiest, seconds } = traffic;
  const time = seconds === null ? '--rate 50MB/s tells how long' : `about ${printSeconds(seconds)}`;
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

/** Of a split or merge: what devices write beside what they have. */
export function printFilled(traffic: ToldTraffic): string[] {
  const { bytes, busiest } = traffic;
  return [
    `${printBytes(bytes)} to write${guessedText(traffic)}, each device from its own files: ` +
      `none crosses the network; most on d${busiest?.id}: ${printBytes(busiest?.bytes ?? 0)}`,
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

function guessedText({ guessed }: ToldTraffic): string {
  return guessed === 0 ? '' : `, ${guessed} of the files of a size nobody told`;
}

function fullestOf({ devices }: ToldTraffic): DeviceTraffic[] {
  return [...devices].sort((a, b) => b.bytesIn - a.bytesIn).slice(0, DEVICES_SHOWN_MAX);
}
