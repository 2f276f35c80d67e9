// How much each partition is asked for. A request only adds one; the rest happens now and then.
import { requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import type { StoreParts } from './store-parts.ts';

export function storeRequests(parts: Pick<StoreParts, 'registry' | 'closed'>) {
  const { registry } = parts;
  return {
    /**
     * To be called every few seconds; `passedMs`: since the last time. What is longer ago counts
     * for less, and who was not asked for since then needs no cached rows. False when the store is
     * closed.
     */
    count: (passedMs: number): boolean => {
      const weight = 1 - 0.5 ** (passedMs / requestRateHalfLifeMs);
      for (const partition of registry.all()) {
        const rate = (partition.requests * 1_000) / passedMs;
        partition.requestRate += (rate - partition.requestRate) * weight;
        if (partition.requests === 0) partition.file?.rowCache.clear();
        partition.requests = 0;
        partition.requestsMs += passedMs;
      }
      return !parts.closed;
    },
    /** Requests a second of late, of each partition that was counted for long enough. */
    rates: (keyspace: string): [partition: number, rate: number][] =>
      [...registry.all()]
        .filter((one) => one.keyspace === keyspace && one.requestsMs >= requestRateHalfLifeMs)
        .map(({ partition, requestRate }) => [partition, requestRate]),
  };
}
