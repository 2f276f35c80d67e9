// Refuses stamps that only a wrong clock can have made.
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax } from '@ringwright/base/limits';
import { formatStamp, type Stamp } from '@ringwright/base/stamp';

/**
 * Learns a stamp from elsewhere. Throws CLOCK_AHEAD, so that one wrong clock cannot win forever.
 */
export function checkClock(clock: HybridClock, stamp: Stamp): void {
  const aheadMs = clock.aheadMs(stamp);
  if (aheadMs > clockAheadMsMax) {
    const what = `timestamp ${formatStamp(stamp)} is ${aheadMs} ms ahead`;
    const message = `${what}; the maximum is ${clockAheadMsMax}`;
    const hint = 'correct the clock of the server that coordinated the write';
    throw new CodedError('CLOCK_AHEAD', message, { hint });
  }
  clock.observe(stamp);
}
