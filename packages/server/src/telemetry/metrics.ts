// Prometheus metrics of one server, each with its unit in the name.
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  readonly registry: Registry;
  readonly requestSeconds: Histogram<'method' | 'status'>;
  readonly replicatedRows: Counter;
  readonly ringVersion: Gauge<'ring'>;
  readonly ringFork: Gauge<'ring'>;
  readonly fetchedRingBytes: Counter<'form'>;
  readonly partitions: Gauge<'ring' | 'state'>;
  readonly copiedBytes: Counter;
  readonly copyRate: Gauge;
  readonly heldDrops: Gauge<'ring'>;
  readonly insecureListen: Gauge;
  readonly ringRefusals: Counter<'code'>;
  readonly refusedRequests: Counter<'code'>;
  readonly redisSeconds: Histogram<'command'>;
  readonly redisConnections: Gauge;
  readonly redisProtocolErrors: Counter;
  readonly clientSeconds: Histogram<'method'>;
  readonly batchItems: Counter<'op' | 'status'>;
  readonly sessionEscalations: Counter;
}

const SECONDS_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: 'ringwright_build_info',
    help: '1, by the release that runs and the version of the wire format it speaks',
    labelNames: ['version', 'wire'],
    registers,
  }).set({ version: programVersion, wire: wireVersion }, 1);
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'ringwright_request_duration_seconds',
      help: 'Time from request to answer, HTTP key resource',
      labelNames: ['method', 'status'],
      buckets: SECONDS_BUCKETS,
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
    ringFork: new Gauge({
      name: 'ringwright_ring_fork',
      help: '1: two rings of one version were seen and nobody has settled it',
      labelNames: ['ring'],
      registers,
    }),
    fetchedRingBytes: new Counter({
      name: 'ringwright_fetched_ring_bytes_total',
      help: 'Bytes of rings fetched from peers, as whole files or deltas',
      labelNames: ['form'],
      registers,
    }),
    partitions: new Gauge({
      name: 'ringwright_partitions',
      help: 'Partition files on this device by state',
      labelNames: ['ring', 'state'],
      registers,
    }),
    ringRefusals: new Counter({
      name: 'ringwright_ring_refusals_total',
      help: 'Rings refused, by code',
      labelNames: ['code'],
      registers,
    }),
    refusedRequests: new Counter({
      name: 'ringwright_refused_requests_total',
      help: 'Requests without a token, with a bad one, or with one that may not do this',
      labelNames: ['code'],
      registers,
    }),
    ...copyMetrics(registers),
    ...interfaceMetrics(registers),
  };
}

/** Partition files on their way, and what holds them up. */
function copyMetrics(registers: Registry[]) {
  return {
    copiedBytes: new Counter({
      name: 'ringwright_copied_bytes_total',
      help: 'Bytes of partition files received',
      registers,
    }),
    copyRate: new Gauge({
      name: 'ringwright_copy_rate_bytes_per_second',
      help: 'Limit of copies in each direction; 0: none',
      registers,
    }),
    insecureListen: new Gauge({
      name: 'ringwright_insecure_listen',
      help: 'Whether it listens to other machines without TLS, trust or access',
      registers,
    }),
    heldDrops: new Gauge({
      name: 'ringwright_held_drops',
      help: 'Drops and quarantines that wait for an operator',
      labelNames: ['ring'] as const,
      registers,
    }),
  };
}

/** The Redis protocol, clients over the wire, batches and sessions. */
function interfaceMetrics(registers: Registry[]) {
  return {
    redisSeconds: new Histogram({
      name: 'ringwright_redis_command_duration_seconds',
      help: 'Time from a request read to its answer, Redis protocol',
      labelNames: ['command'] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    redisConnections: new Gauge({
      name: 'ringwright_redis_connections',
      help: 'Open connections of the Redis protocol',
      registers,
    }),
    redisProtocolErrors: new Counter({
      name: 'ringwright_redis_protocol_errors_total',
      help: 'Connections ended for bytes that are no request of the Redis protocol',
      registers,
    }),
    clientSeconds: new Histogram({
      name: 'ringwright_client_request_duration_seconds',
      help: 'Time from request to answer, client package',
      labelNames: ['method'] as const,
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    batchItems: new Counter({
      name: 'ringwright_batch_items_total',
      help: 'Items of HTTP batches by operation and status',
      labelNames: ['op', 'status'] as const,
      registers,
    }),
    sessionEscalations: new Counter({
      name: 'ringwright_session_escalations_total',
      help: 'Reads that asked more slots than their level for the sake of their session',
      registers,
    }),
  };
}
