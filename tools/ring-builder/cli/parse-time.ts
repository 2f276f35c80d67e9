// Parses times as operators write them: 2026-11-21, 2026-11-21T08:00Z, or 36h (before now). Pure.
import { usage } from './arguments.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Returns milliseconds since 1970. A time without a zone is UTC, like all times that the tool
 * prints. A date without a time means 00:00. Throws USAGE.
 */
export function parseTime(text: string, nowMs: number, name: string): number {
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * (UNITS_MS[ago[2] ?? ''] ?? 0);
  const found = isTime(text) && isDay(text.slice(0, 10)) ? Date.parse(inUtc(text)) : Number.NaN;
  if (!Number.isNaN(found)) return found;
  throw usage(
    `${name} ${text} is not a time; write 2026-11-21, 2026-11-21T08:00Z (UTC), 36h or 7d`,
  );
}

export function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
}

/** Date.parse takes February 30 as March 2. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** Date.parse takes a time without a zone as local, but a date alone as UTC. */
function inUtc(text: string): string {
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text;
}
