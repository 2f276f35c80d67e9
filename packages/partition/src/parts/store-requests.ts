// Measures the request rate of each partition. A request only increments a counter; the rest runs
// now and then.
import { requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import type { StoreParts } from './store-parts.ts';

export function storeRequests(parts: Pick<StoreParts, 'registry' | 'closed'>) {
  const { registry } = parts;
  return {
    /**
     * To be called every few seconds; `passedMs`: time since the last call. Older requests count
     * for less, and a partition without a request since the last call drops its cached rows.
     * Returns false when the store is closed.
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
    /** Recent requests per second of each partition that was measured for long enough. */
    rates: (keyspace: string): [partition: number, rate: number][] =>
      [...registry.all()]
        .filter((one) => one.keyspace === keyspace && one.requestsMs >= requestRateHalfLifeMs)
        .map(({ partition, requestRate }) => [partition, requestRate]),
  };
}
