// Hours of the day in which something may begin: `22-6` is from ten at night to six. Pure.
import { usage } from './arguments.ts';

export interface HourWindow {
  readonly from: number;
  /** The first hour in which nothing may begin any more. */
  readonly until: number;
}

/** Throws USAGE. */
export function parseWindow(text: string): HourWindow {
  const found = /^(\d{1,2})-(\d{1,2})$/.exec(text);
  const [from, until] = [Number(found?.[1]), Number(found?.[2])];
  if (from <= 23 && until <= 24 && from !== until) return { from, until };
  throw usage(`--window ${JSON.stringify(text)}: wanted hours of the day such as 22-6`);
}

/** `hour`: 0 to 23, of local time. */
export function isInside({ from, until }: HourWindow, hour: number): boolean {
  return from < until ? hour >= from && hour < until : hour >= from || hour < until;
}

/** The hours mean another time in every time zone. */
export function printWindow({ from, until }: HourWindow, timeZone: string): string {
  return `${from}-${until} (${timeZone})`;
}
