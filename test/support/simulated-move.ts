// The move that simulated histories run through. Only timers advance its time.
import { afterEach, beforeEach, vi } from 'vitest';
import { moveVersions, servedRing } from './served-ring.ts';
import type { SimulationOptions } from './simulated-cluster.ts';

/** Partition 0 is on devices 0, 1, 2; device 3 replaces device 2; device 4 only coordinates. */
const first = servedRing({ devices: 5, power: 0 });
export const versions = [
  first,
  ...moveVersions(first, [{ partition: 0, replica: 2, from: 2, to: 3 }]),
];

export const sound: SimulationOptions = { lossPercent: 3, takeover: true };

/** Applies to every test of the file that calls it. */
export function useSimulatedTime(): void {
  beforeEach(() =>
    vi.useFakeTimers({ now: 1_763_692_800_000, toFake: ['setTimeout', 'clearTimeout', 'Date'] }),
  );
  afterEach(() => vi.useRealTimers());
}
