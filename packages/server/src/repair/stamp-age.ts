// Classifies a record by the age of its stamp, before it is offered to other holders. Pure.
import { clockAheadMsMax, replicationAgeMsMin } from '@ringwright/base/limits';

/**
 * young: the record's own write may still be on the way. ahead: written by a wrong clock, and no
 * holder takes the record before its time. settled: all others, also those ahead by less.
 */
type StampAge = 'settled' | 'young' | 'ahead';

/** If `nowMs` is infinite, all records are settled. */
export function stampAge(ms: number, nowMs: number): StampAge {
  if (ms - nowMs > clockAheadMsMax) return 'ahead';
  return Math.abs(ms - nowMs) < replicationAgeMsMin ? 'young' : 'settled';
}
