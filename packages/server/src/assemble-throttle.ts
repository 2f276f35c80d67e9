// The throttle of copies, which gives way when the event loop of this process is late.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loopDelayResolutionMs } from '@ringwright/base/limits-copies';
import type { Store } from '@ringwright/partition/store';
import { AdaptiveThrottle } from './copies/adaptive-throttle.ts';

/** `rate`: bytes a second; null: no limit. */
export function createThrottle(store: Store, rate: number | null): AdaptiveThrottle {
  const delay = monitorEventLoopDelay({ resolution: loopDelayResolutionMs });
  delay.enable();
  const loopDelayMs = (): number => {
    // What it measures is the time between two of its timers.
    const lateMs = delay.percentile(99) / 1e6 - loopDelayResolutionMs;
    delay.reset();
    return lateMs;
  };
  const ports = {
    monotonicMs: () => performance.now(),
    loopDelayMs,
    onAllowed: (rate: number | null) => store.copies.setRate(rate),
  };
  return new AdaptiveThrottle(ports, rate);
}
