// How much each partition is asked for. A request only adds one; the rest happens now and then.
import { requestRateHalfLifeMs } from '@ringwright/base/limits-store';
import type { StoreParts } from './store-parts.ts';

export interface StoreRequests {
  /**
   * To be called every few seconds; `passedMs`: since the last time. What is longer ago counts for
   * less. False when the store is closed.
   */
  readonly count: (passedMs: number) => boolean;
  /** Requests a second of late, of each partition of a keyspace that was counted for long enough. */
  readonly rates: (keyspace: string) => [partition: number, rate: number][];
}

export function storeRequests(parts: Pick<StoreParts, 'registry' | 'closed'>): StoreRequests {
  const { registry } = parts;
  return {
    count: (passedMs) => {
      const weight = 1 - 0.5 ** (passedMs / requestRateHalfLifeMs);
      for (const partition of registry.all()) {
        const rate = (partition.requests * 1_000) / passedMs;
        partition.requestRate += (rate - partition.requestRate) * weight;
        partition.requests = 0;
        partition.requestsMs += passedMs;
      }
      return !parts.closed;
    },
    rates: (keyspace) =>
      [...registry.all()]
        .filter((one) => one.keyspace === keyspace && one.requestsMs >= requestRateHalfLifeMs)
        .map(({ partition, requestRate }) => [partition, requestRate]),
  };
}
