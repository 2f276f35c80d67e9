// Prometheus metrics of one server, each with its unit in the name.
import { loopDelayResolutionMs } from '@ringwright/base/limits-copies';
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export type Metrics = ReturnType<typeof createMetrics>;

type Makers = ReturnType<typeof makersIn>;

/** What makes a metric of each kind from its name, what it tells and its labels. */
function makersIn(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string = never>(name: string, help: string, labelNames: Label[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    seconds: <Label extends string>(name: string, help: string, labelNames: Label[]) =>
      new Histogram({ name, help, labelNames, buckets: SECONDS_BUCKETS, registers }),
  };
}

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: loopDelayResolutionMs,
  });
  const makers = makersIn(registry);
  makers
    .gauge(
      'ringwright_build_info',
      '1, by the release that runs and the version of the wire format it speaks',
      ['version', 'wire'],
    )
    .set({ version: programVersion, wire: wireVersion }, 1);
  return { registry, ...deviceMetrics(makers), ...interfaceMetrics(makers) };
}

/** Rings, partition files on their way, and what holds them up. */
function deviceMetrics({ counter, gauge }: Makers) {
  return {
    replicatedRows: counter(
      'ringwright_replicated_rows_total',
      'Records pushed to peers that lacked them',
    ),
    ringVersion: gauge('ringwright_ring_version', 'Active version of each ring', ['ring']),
    ringFork: gauge(
      'ringwright_ring_fork',
      '1: two rings of one version were seen and nobody has settled it',
      ['ring'],
    ),
    fetchedRingBytes: counter(
      'ringwright_fetched_ring_bytes_total',
      'Bytes of rings fetched from peers, as whole files or deltas',
      ['form'],
    ),
    partitions: gauge('ringwright_partitions', 'Partition files on this device by state', [
      'ring',
      'state',
    ]),
    ringRefusals: counter('ringwright_ring_refusals_total', 'Rings refused, by code', ['code']),
    copiedBytes: counter('ringwright_copied_bytes_total', 'Bytes of partitions received'),
    copyRate: gauge(
      'ringwright_copy_rate_bytes_per_second',
      'Limit of copies in each direction; 0: none',
    ),
    heldDrops: gauge('ringwright_held_drops', 'Drops and quarantines that wait for an operator', [
      'ring',
    ]),
  };
}

/** HTTP, the Redis protocol, clients over the wire, batches and sessions. */
function interfaceMetrics({ counter, gauge, seconds }: Makers) {
  return {
    insecureListen: gauge(
      'ringwright_insecure_listen',
      'Whether it listens to other machines without TLS, trust or access',
    ),
    refusedRequests: counter(
      'ringwright_refused_requests_total',
      'Requests without a token, with a bad one, or with one that may not do this',
      ['code'],
    ),
    requestSeconds: seconds(
      'ringwright_request_duration_seconds',
      'Time from request to answer, HTTP key resource',
      ['method', 'status'],
    ),
    redisSeconds: seconds(
      'ringwright_redis_command_duration_seconds',
      'Time from a request read to its answer, Redis protocol',
      ['command'],
    ),
    redisConnections: gauge(
      'ringwright_redis_connections',
      'Open connections of the Redis protocol',
    ),
    redisProtocolErrors: counter(
      'ringwright_redis_protocol_errors_total',
      'Connections ended for bytes that are no request of the Redis protocol',
    ),
    clientSeconds: seconds(
      'ringwright_client_request_duration_seconds',
      'Time from request to answer, client package',
      ['method'],
    ),
    batchItems: counter(
      'ringwright_batch_items_total',
      'Items of HTTP batches by operation and status',
      ['op', 'status'],
    ),
    sessionEscalations: counter(
      'ringwright_session_escalations_total',
      'Reads that asked more slots than their level for the sake of their session',
    ),
  };
}
