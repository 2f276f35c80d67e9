// Hours of the day in which an action may begin: `22-6` is from 22:00 to 06:00. Pure.
import { usage } from './arguments.ts';

export interface HourWindow {
  readonly from: number;
  /** The first hour after the window: nothing begins in it. */
  readonly until: number;
}

/** Throws USAGE. */
export function parseWindow(text: string): HourWindow {
  const found = /^(\d{1,2})-(\d{1,2})$/.exec(text);
  const [from, until] = [Number(found?.[1]), Number(found?.[2])];
  if (from <= 23 && until <= 24 && from !== until) return { from, until };
  throw usage(`--window ${JSON.stringify(text)}: expected hours of the day such as 22-6`);
}

/** `hour`: 0 to 23, local time. */
export function isInside({ from, until }: HourWindow, hour: number): boolean {
  return from < until ? hour >= from && hour < until : hour >= from || hour < until;
}

/** Includes the time zone, because the hours mean different times in each. */
export function printWindow({ from, until }: HourWindow, timeZone: string): string {
  return `${from}-${until} (${timeZone})`;
}
