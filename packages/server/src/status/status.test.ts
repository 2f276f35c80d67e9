// The status of a server and its metrics, over minimal parts.
import { generateKeyPairSync } from 'node:crypto';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import { expect, test } from 'vitest';
import { activeOn, servedRing } from '../../../../test/support/served-ring.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { measureStatus } from './measure-status.ts';
import { type StatusPorts, serverStatus } from './status.ts';

const shape = { replicas: 1, devices: 1, power: 1 };
const rings = ['cities', 'towns'].map((keyspace) =>
  activeOn({ ...servedRing(shape), keyspace }, 0),
);
const infoOf = (keyspace: string, partition: number, rows: number): PartitionInfo =>
  ({ keyspace, partition, rows, bytes: 10 * rows, state: 'ready' }) as PartitionInfo;
const infos = [infoOf('towns', 0, 3), infoOf('towns', 1, 4), infoOf('gone', 0, 5)];
const { privateKey } = generateKeyPairSync('ed25519');
let lists = 0;

/** Only what these tests use. */
const ports = {
  identity: { address: { ip: '127.0.0.1', port: 6201 }, name: 'sd1' },
  rings: { list: () => rings, highestOnDisk: () => undefined, refusals: () => [] },
  forks: { find: () => undefined },
  requests: { list: () => [] },
  store: {
    list: () => {
      lists += 1;
      return infos;
    },
    damaged: () => [],
    info: (keyspace: string, partition: number) =>
      infos.find((info) => info.keyspace === keyspace && info.partition === partition) ?? null,
  },
  reconciler: {
    ...{ draining: () => new Map(), failing: () => [], progress: () => [] },
    held: () => ({ drops: 0, quarantines: 0 }),
  },
  controls: { of: () => ({ paused: [], first: [] }) },
  peers: {
    list: () => ['10.0.0.1:1', '10.0.0.2:1'].map((address) => ({ address, connected: true })),
  },
  refusingPeers: new Set(['10.0.0.2:1']),
  trust: { beaconOf: () => null, demands: false },
  throttle: { status: () => ({ inForce: null }) },
  scrubber: { logLoss: null },
  generation: { isRestored: true },
  key: privateKey,
  certificate: () => null,
  clocks: { clock: { stampsAheadMs: () => 90_000 }, peerClocks: { awayMs: () => -12_500 } },
  uptimeMs: () => 1_000,
  nowMs: () => 1_763_692_800_000,
} as unknown as StatusPorts;

test('partitions are listed once for all rings', () => {
  const status = serverStatus(ports);
  expect(lists).toBe(1);
  expect(status.putBack).toBe(true);
  expect(status.peers.map(({ refuses }) => refuses)).toEqual([false, true]);
  expect(status.rings.map(({ ring, rows, notReady }) => [ring, rows, notReady])).toEqual([
    ['cities', 0, 2],
    ['towns', 7, 0],
  ]);
});

test('metrics use the same list of partitions as the status', async () => {
  lists = 0;
  const metrics = createMetrics();
  const disk = { freeBytes: 1, totalBytes: 2, freeInodes: null, unwritable: null };
  measureStatus(metrics, { status: serverStatus(ports, infos), infos, disk, unreadable: [] });
  const text = await metrics.registry.metrics();
  expect(lists).toBe(0);
  expect(text).toContain('ringwright_records{ring="towns"} 7\n');
  expect(text).toContain('ringwright_unnamed_files{ring="towns"} 0\n');
  expect(text).toContain('ringwright_clock_away_seconds -12.5\n');
  expect(text).toContain('ringwright_unprotected{ring="towns",lacks="trust"} 1\n');
  // Includes files of a ring that is not here.
  expect(text).toContain('ringwright_partitions{ring="gone",state="ready"} 1\n');
});

test('each state of a server that health reports has a metric', async () => {
  const metrics = createMetrics();
  const trusts = [
    { cluster: 'c1', version: 3, epoch: 1, id: 'f00', expires: '', expiresSoon: true },
  ];
  const status = { ...serverStatus(ports, infos), trust: trusts };
  const disk = { freeBytes: 1, totalBytes: 2, freeInodes: 7, unwritable: 'EROFS' };
  measureStatus(metrics, { status, infos, disk, unreadable: ['lost'] });
  const text = await metrics.registry.metrics();
  for (const line of [
    'ringwright_unwritable 1',
    'ringwright_disk_free_inodes 7',
    'ringwright_refusing_peers 1',
    'ringwright_put_back 1',
    'ringwright_stamps_ahead_seconds 90',
    'ringwright_trust_version{cluster="c1"} 3',
    'ringwright_ring_version{ring="lost"} 0',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  // Neither an alert about inodes on a file system without them, nor one that stays for ever.
  const well = { freeBytes: 1, totalBytes: 2, freeInodes: null, unwritable: null };
  measureStatus(metrics, { status, infos, disk: well, unreadable: [] });
  const later = await metrics.registry.metrics();
  expect(later).toContain('ringwright_unwritable 0\n');
  expect(later).toContain('ringwright_disk_free_inodes +Inf\n');
});
