// Points in time as operators write them: 2026-11-21, 2026-11-21T08:00Z, or 36h before now. Pure.
import { usage } from './arguments.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * Milliseconds since 1970. What names no zone is UTC, as all that the tool prints; a date without
 * time is its first moment. Throws USAGE.
 */
export function parseTime(text: string, nowMs: number, name: string): number {
  const ago = /^(\d{1,6})([mhdw])$/.exec(text);
  if (ago !== null) return nowMs - Number(ago[1]) * (UNITS_MS[ago[2] ?? ''] ?? 0);
  const found = isTime(text) ? Date.parse(inUtc(text)) : Number.NaN;
  if (!Number.isNaN(found)) return found;
  throw usage(`${name} ${text} is no time; write 2026-11-21, 2026-11-21T08:00Z (UTC), 36h or 7d`);
}

export function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
}

/** A time without zone would be local to Date.parse, a date alone would not. */
function inUtc(text: string): string {
  return /T[\d:.]+$/.test(text) ? `${text}Z` : text;
}
