// Bytes by device before and after a plan, for people. Pure.
import { counted } from '@ringwright/base/counted';
import { printTable } from '@ringwright/base/print-table';
import type { PlanBytes } from '@ringwright/builder/ask/plan-bytes';
import type { BuilderState } from '@ringwright/builder/state/builder-state';
import { MS_PER_HOUR } from '../cli/hours.ts';
import { printBytes } from '../cli/print-bytes.ts';

const DEVICES_SHOWN_MAX = 20;

/** Nothing where no device holds anything. */
export function printPlanBytes(bytes: PlanBytes, state: BuilderState): string[] {
  const { devices, fullest, guessed } = bytes;
  const { sizes, ring } = state;
  if (fullest.before === null || fullest.after === null) return [];
  const shown = [...devices].sort((a, b) => b.after - a.after).slice(0, DEVICES_SHOWN_MAX);
  const measured =
    sizes === undefined
      ? `balance is by counts; ring-builder set ${ring} --balance bytes evens them out`
      : `by sizes of ${new Date(sizes.measuredHour * MS_PER_HOUR).toISOString().slice(0, 16)}Z`;
  return [
    '',
    `fullest device: ${fullest.before.toFixed(2)} x its share of the bytes now, ` +
      `${fullest.after.toFixed(2)} x after all moves (${measured})`,
    ...(guessed === 0
      ? []
      : [
          `of ${counted(guessed, 'partition')} nobody told the size: taken as the mean of the others`,
        ]),
    ...printTable(shown, [
      { head: 'ID', cell: ({ id }) => `d${id}` },
      { head: 'BYTES NOW', cell: ({ before }) => printBytes(before) },
      { head: 'AFTER', cell: ({ after }) => printBytes(after) },
    ]),
  ];
}
