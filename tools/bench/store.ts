#!/usr/bin/env node
// Program: the storage beside its peers, on this machine, in one run: npm run bench:store -- --help
import { runBenchmark } from './measure/benchmark.ts';
import type { Comparison } from './measure/comparison.ts';
import { partitionsSection, tlsSection } from './store/beside-cluster.ts';
import { etcdSection, etcdValues } from './store/store-etcd.ts';
import { recordsSection } from './store/store-records.ts';
import { recoverySection } from './store/store-recovery.ts';
import { redisSection, redisValues } from './store/store-redis.ts';
import { scanSection } from './store/store-scan.ts';
import type { StoreSection, StoreSize } from './store/store-section.ts';
import { sqlSection } from './store/store-sql.ts';

await runBenchmark<StoreSize>({
  name: 'store',
  about: `Starts real servers and, where they are installed, real peers (redis-server, etcd,
PostgreSQL, MariaDB with Galera).
Each figure is the median of rounds in which the sides take turns.`,
  sizes: {
    seconds: { usual: 5, about: 'seconds of one measurement' },
    rounds: { usual: 5, about: 'measurements of each side' },
    keys: { usual: 20_000, about: 'keys that are drawn from' },
    records: { usual: 1_000_000, about: 'records of the sections records and scan' },
  },
  sections: {
    redis: redisSection,
    etcd: etcdSection,
    sql: sqlSection,
    values: valuesSection,
    partitions: partitionsSection,
    records: recordsSection,
    recovery: recoverySection,
    scan: scanSection,
    tls: tlsSection,
  },
  example: '--only redis --seconds 2 --rounds 3',
});

/** One device beside Redis, three devices beside etcd. */
async function valuesSection(section: StoreSection): Promise<Comparison[]> {
  return [...(await redisValues(section)), ...(await etcdValues(section))];
}
