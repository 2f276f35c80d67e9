#!/usr/bin/env node
// Program: the storage beside its peers, on this machine, in one run: npm run bench:store -- --help
import { runBenchmark } from './benchmark.ts';
import { redisSection, redisValues } from './store-redis.ts';
import type { StoreSize } from './store-section.ts';

await runBenchmark<StoreSize>({
  name: 'store',
  about: `Starts real servers and, where they are installed, real peers (redis-server, etcd).
Each figure is the median of rounds in which the sides take turns.`,
  sizes: {
    seconds: { usual: 5, about: 'seconds of one measurement' },
    rounds: { usual: 5, about: 'measurements of each side' },
    records: { usual: 1_000_000, about: 'records of the section records' },
  },
  sections: { redis: redisSection, values: redisValues },
  example: '--only redis --seconds 2 --rounds 3',
});
