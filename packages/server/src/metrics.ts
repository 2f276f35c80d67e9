// Prometheus metrics of one server, each with its unit in the name.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly requestSeconds: Histogram<'method' | 'status'>;
  readonly replicatedRows: Counter;
  readonly ringVersion: Gauge<'ring'>;
  readonly partitions: Gauge<'ring' | 'state'>;
  readonly copiedBytes: Counter;
  readonly ringRefusals: Counter<'code'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'ringwright_request_duration_seconds',
      help: 'Time from request to answer, HTTP key resource',
      labelNames: ['method', 'status'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
      registers,
    }),
    replicatedRows: new Counter({
      name: 'ringwright_replicated_rows_total',
      help: 'Records pushed to peers that lacked them',
      registers,
    }),
    ringVersion: new Gauge({
      name: 'ringwright_ring_version',
      help: 'Active version of each ring',
      labelNames: ['ring'],
      registers,
    }),
    partitions: new Gauge({
      name: 'ringwright_partitions',
      help: 'Partition files on this device by state',
      labelNames: ['ring', 'state'],
      registers,
    }),
    copiedBytes: new Counter({
      name: 'ringwright_copied_bytes_total',
      help: 'Bytes of partition files received',
      registers,
    }),
    ringRefusals: new Counter({
      name: 'ringwright_ring_refusals_total',
      help: 'Rings refused, by code',
      labelNames: ['code'],
      registers,
    }),
  };
}
