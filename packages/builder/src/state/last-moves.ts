// When partitions moved before a ring was imported: runs of hours, as Swift counts them. Pure.
import type { LastMoves } from './swift-state.ts';

/** Swift counts no further: such a partition may have moved at any time before. */
export const HOURS_COUNTED_MAX = 255;
/** Hours of partitions that are in no run. */
const UNKNOWN = HOURS_COUNTED_MAX;

/** Hours between the last move and the epoch, by partition. */
export function hoursOfRuns({ runs }: LastMoves, partitions: number): Uint8Array {
  const hours = new Uint8Array(partitions).fill(UNKNOWN);
  let at = 0;
  for (const [count, value] of runs) {
    hours.fill(value, at, at + count);
    at += count;
  }
  return hours;
}

/** The other way; neighbouring runs differ, so equal hours give equal runs. */
export function runsOfHours(hours: Uint8Array): LastMoves['runs'] {
  const runs: [number, number][] = [];
  for (const value of hours) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === value) last[0] += 1;
    else runs.push([1, value]);
  }
  return runs;
}
