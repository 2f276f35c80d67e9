// Prometheus metrics of one server, each with its unit in the name.
import { loopDelayResolutionMs } from '@ringwright/base/limits-copies';
import { programVersion } from '@ringwright/base/program-version';
import { wireVersion } from '@ringwright/wire/wire-version';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export type Metrics = ReturnType<typeof createMetrics>;

type Makers = ReturnType<typeof makersIn>;

/** Makes a metric of each kind from its name, its help text and its labels. */
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
    .gauge('ringwright_build_info', 'Always 1, by the release that runs and its wire version', [
      'version',
      'wire',
    ])
    .set({ version: programVersion, wire: wireVersion }, 1);
  return {
    registry,
    ...statusMetrics(makers),
    ...serverMetrics(makers),
    ...trustMetrics(makers),
    ...deviceMetrics(makers),
    ...interfaceMetrics(makers),
  };
}

/** Metrics of what /v1/status reports of each ring, set on request. */
function statusMetrics({ gauge }: Makers) {
  return {
    ringVersion: gauge(
      'ringwright_ring_version',
      'Active version of each ring; 0: its files here cannot be read',
      ['ring'],
    ),
    ringFork: gauge(
      'ringwright_ring_fork',
      '1: two rings with the same version were seen, and the fork is not settled',
      ['ring'],
    ),
    partitions: gauge('ringwright_partitions', 'Partition files on this device by state', [
      'ring',
      'state',
    ]),
    notReady: gauge(
      'ringwright_not_ready_partitions',
      'Partitions of this device that cannot be read here yet',
      ['ring'],
    ),
    damaged: gauge(
      'ringwright_damaged_partitions',
      'Partition files that cannot be used: they refill, or wait for an operator',
      ['ring'],
    ),
    failingSteps: gauge(
      'ringwright_failing_steps',
      'Steps of partitions, such as open and drain, that fail and are tried again',
      ['ring'],
    ),
    heldDrops: gauge('ringwright_held_drops', 'Drops and quarantines that wait for an operator', [
      'ring',
    ]),
    unnamedFiles: gauge(
      'ringwright_unnamed_files',
      'Files of a ring that does not name this server: being drained, or held for an operator',
      ['ring'],
    ),
    records: gauge('ringwright_records', 'Records on this device', ['ring']),
    recordBytes: gauge('ringwright_record_bytes', 'Bytes of the values on this device', ['ring']),
    beaconEnd: gauge(
      'ringwright_beacon_expiry_timestamp_seconds',
      'When the last beacon expires; no data is dropped from then on',
      ['ring'],
    ),
  };
}

/** The same for the server as a whole: its disk, its peers, its clock. */
function serverMetrics({ gauge }: Makers) {
  return {
    diskFree: gauge('ringwright_disk_free_bytes', 'Free on the disk of the data directory'),
    diskTotal: gauge('ringwright_disk_bytes', 'Size of the disk of the data directory'),
    diskInodes: gauge(
      'ringwright_disk_free_inodes',
      'Free inodes of the disk; +Inf: its file system has no fixed number of them',
    ),
    unwritable: gauge(
      'ringwright_unwritable',
      '1: no file can be created in the data directory, or its disk hangs: writes fail here',
    ),
    unreachablePeers: gauge(
      'ringwright_unreachable_peers',
      'Servers of the rings without a connection from here',
    ),
    refusingPeers: gauge(
      'ringwright_refusing_peers',
      'Servers of the rings that refuse the requests of this one',
    ),
    clockAway: gauge(
      'ringwright_clock_away_seconds',
      'Clock here minus that of most servers it knows; with two servers, minus the other one',
    ),
    stampsAhead: gauge(
      'ringwright_stamps_ahead_seconds',
      'Existing stamps minus the clock here; over 60 seconds, the server refuses writes',
    ),
    logLost: gauge(
      'ringwright_log_lost',
      '1: the commit log was changed from outside, and this process has begun a new one',
    ),
    putBack: gauge(
      'ringwright_put_back',
      '1: the data directory was restored from an older backup, and refills from other servers',
    ),
    copyRate: gauge(
      'ringwright_copy_rate_bytes_per_second',
      'Limit of copies in each direction; 0: no limit',
    ),
  };
}

/** Metrics of protection and expiry; set on request too. */
function trustMetrics({ gauge }: Makers) {
  return {
    unprotected: gauge(
      'ringwright_unprotected',
      '1: a ring is served here without trust (anyone may do anything), or without TLS',
      ['ring', 'lacks'],
    ),
    trustVersion: gauge('ringwright_trust_version', 'Version of the root of trust in force', [
      'cluster',
    ]),
    trustEnd: gauge(
      'ringwright_trust_expiry_timestamp_seconds',
      'When the root of trust expires; no ring is accepted from then on',
      ['cluster'],
    ),
    certificateEnd: gauge(
      'ringwright_certificate_expiry_timestamp_seconds',
      'When the certificate of --tls expires, by its names',
      ['names'],
    ),
  };
}

/** Counters of rings, records and files that travel. */
function deviceMetrics({ counter }: Makers) {
  return {
    replicatedRows: counter(
      'ringwright_replicated_rows_total',
      'Records pushed to peers that lacked them',
    ),
    fetchedRingBytes: counter(
      'ringwright_fetched_ring_bytes_total',
      'Bytes of rings fetched from peers, as whole files or deltas',
      ['form'],
    ),
    ringRefusals: counter('ringwright_ring_refusals_total', 'Rings refused, by code', ['code']),
    copiedBytes: counter('ringwright_copied_bytes_total', 'Bytes of partitions received'),
  };
}

/** HTTP, the Redis protocol, clients over the wire, batches and sessions. */
function interfaceMetrics({ counter, gauge, seconds }: Makers) {
  return {
    insecureListen: gauge(
      'ringwright_insecure_listen',
      'Whether the server listens to other machines without TLS, trust or tokens',
    ),
    refusedRequests: counter(
      'ringwright_refused_requests_total',
      'Requests without a token, with an invalid one, or with one that lacks the role',
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
      'Connections ended because of bytes that are not a Redis request',
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
      'Reads that queried more slots than their level needs, for their session',
    ),
  };
}
