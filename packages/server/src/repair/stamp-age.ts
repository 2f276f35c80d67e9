// How old a record is by its stamp, for those who offer it to other holders. Pure.
import { clockAheadMsMax, replicationAgeMsMin } from '@ringwright/base/limits';

/**
 * young: its own write may still be on the way. ahead: written by a wrong clock, and no holder
 * takes it before its time. settled: all others, those included that lie ahead by less.
 */
type StampAge = 'settled' | 'young' | 'ahead';

/** With `nowMs` infinite all are settled. */
export function stampAge(ms: number, nowMs: number): StampAge {
  if (ms - nowMs > clockAheadMsMax) return 'ahead';
  return Math.abs(ms - nowMs) < replicationAgeMsMin ? 'young' : 'settled';
}
