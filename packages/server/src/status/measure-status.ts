// Metrics of the status, set on request, and of copies, counted on arrival.
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { copyRead, copyStart } from '@ringwright/wire/copies';
import type { AnswerOf } from '@ringwright/wire/message';
import type { DeviceCaller } from '../peers/device-caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { RingStatus, ServerStatus } from './status.ts';

/** Sets the gauges of status and disk that /metrics shows. */
export function measureStatus(
  metrics: Metrics,
  {
    status,
    infos,
    disk,
    unreadable,
  }: {
    readonly status: ServerStatus;
    /** All partitions on this device, also those of rings that are not here. */
    readonly infos: readonly PartitionInfo[];
    readonly disk: Awaited<ReturnType<Store['disk']['free']>>;
    /** Rings that were active here, and have no file that can be read. */
    readonly unreadable: readonly string[];
  },
): void {
  for (const ring of status.rings) {
    measureRing(metrics, ring, status.nowMs);
    const labels = { ring: ring.ring };
    metrics.unprotected.set({ ...labels, lacks: 'trust' }, status.trust === null ? 1 : 0);
    metrics.unprotected.set({ ...labels, lacks: 'tls' }, status.demandsTls ? 0 : 1);
  }
  for (const ring of unreadable) metrics.ringVersion.set({ ring }, 0);
  measureStates(metrics, infos);
  for (const { cluster, version, expires } of status.trust ?? []) {
    metrics.trustVersion.set({ cluster }, version);
    metrics.trustEnd.set({ cluster }, Date.parse(expires) / 1_000);
  }
  // A certificate that was replaced may have had other names.
  metrics.certificateEnd.reset();
  if (status.certificate !== null) {
    const { names, ends } = status.certificate;
    metrics.certificateEnd.set({ names }, Date.parse(ends) / 1_000);
  }
  metrics.diskFree.set(disk.freeBytes);
  metrics.diskTotal.set(disk.totalBytes);
  metrics.diskInodes.set(disk.freeInodes ?? Number.POSITIVE_INFINITY);
  metrics.unwritable.set(disk.unwritable === null ? 0 : 1);
  metrics.unreachablePeers.set(status.peers.filter(({ connected }) => !connected).length);
  metrics.refusingPeers.set(status.peers.filter(({ refuses }) => refuses).length);
  metrics.clockAway.set(status.clockAwayMs / 1_000);
  metrics.stampsAhead.set(status.stampsAheadMs / 1_000);
  metrics.logLost.set(status.logLoss === null ? 0 : 1);
  metrics.putBack.set(status.putBack ? 1 : 0);
  metrics.copyRate.set(status.copyPace.inForce ?? 0);
}

function measureRing(metrics: Metrics, status: RingStatus, nowMs: number): void {
  const { ring, held, freshness } = status;
  metrics.ringVersion.set({ ring }, status.version);
  metrics.ringFork.set({ ring }, status.fork?.settled === null ? 1 : 0);
  metrics.notReady.set({ ring }, status.notReady);
  metrics.damaged.set({ ring }, status.damaged.length);
  metrics.failingSteps.set({ ring }, status.failing.length);
  metrics.heldDrops.set({ ring }, held.drops + held.quarantines);
  metrics.unnamedFiles.set({ ring }, status.device === null ? status.surplus : 0);
  metrics.records.set({ ring }, status.rows);
  metrics.recordBytes.set({ ring }, status.bytes);
  if (freshness.leftMs !== null)
    metrics.beaconEnd.set({ ring }, (nowMs + freshness.leftMs) / 1_000);
}

function measureStates({ partitions }: Metrics, infos: readonly PartitionInfo[]): void {
  const counts = new Map<string, number>();
  for (const { keyspace, state } of infos) {
    const name = `${keyspace}/${state}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  partitions.reset();
  for (const [name, count] of counts) {
    const [ring = '', state = ''] = name.split('/');
    partitions.set({ ring, state }, count);
  }
}

/** Returns the same caller, which also counts the bytes of partitions that arrive here. */
export function measureCopies({ copiedBytes }: Metrics, devices: DeviceCaller): DeviceCaller {
  return {
    ...devices,
    async call(to, kind, request) {
      const answer = await devices.call(to, kind, request);
      const bytes = bytesOf[kind.method]?.(answer) ?? 0;
      if (bytes > 0) copiedBytes.inc(bytes);
      return answer;
    },
  };
}

/**
 * Reads the bytes from each kind of answer that brings them; the answers have passed their schemas.
 */
const bytesOf: Readonly<Record<string, (answer: unknown) => number>> = {
  [copyRead.method]: (answer) => (answer as AnswerOf<typeof copyRead>).data.length,
  [copyStart.method]: (answer) => {
    const copyAnswer = answer as AnswerOf<typeof copyStart>;
    // The bytes of a file go to another process.
    return 'records' in copyAnswer ? copyAnswer.records.length : copyAnswer.bytes;
  },
};
