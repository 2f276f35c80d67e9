// When partitions last moved before the ring was imported: runs of hours, as in Swift. Pure.
import type { LastMoves } from './swift-state.ts';

/** Swift stops counting here: such a partition moved this many hours ago or longer. */
export const HOURS_COUNTED_MAX = 255;
/** Hours of partitions that no run covers. */
const UNKNOWN = HOURS_COUNTED_MAX;

/** Returns the hours between the last move and the epoch, by partition. */
export function hoursOfRuns({ runs }: LastMoves, partitions: number): Uint8Array {
  const hours = new Uint8Array(partitions).fill(UNKNOWN);
  let at = 0;
  for (const [count, value] of runs) {
    hours.fill(value, at, at + count);
    at += count;
  }
  return hours;
}

/** The inverse of `hoursOfRuns`. Neighboring runs differ, so equal hours give equal runs. */
export function runsOfHours(hours: Uint8Array): LastMoves['runs'] {
  const runs: [number, number][] = [];
  for (const value of hours) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] === value) last[0] += 1;
    else runs.push([1, value]);
  }
  return runs;
}
