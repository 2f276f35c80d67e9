// The parts of a server that keep the stored data correct: replication, scrubbing, tombstone
// floors.
import type { Store } from '@ringwright/partition/store';
import type { Logger } from 'pino';
import type { PeerClocks } from './clocks/peer-clocks.ts';
import type { FinishProposal } from './coordinate/propose.ts';
import type { Reconciler } from './moves/reconciler.ts';
import type { DeviceCaller } from './peers/device-caller.ts';
import type { FloorPorts } from './repair/raise-floor.ts';
import { Replicator } from './repair/replicate.ts';
import { Scrubber } from './repair/scrubber.ts';
import type { Metrics } from './telemetry/metrics.ts';

interface Parts {
  readonly store: Store;
  readonly devices: DeviceCaller;
  readonly decide: FinishProposal;
  readonly reconciler: Reconciler;
  readonly peerClocks: PeerClocks;
  readonly requireDropsAllowed: FloorPorts['requireDropsAllowed'];
}

interface RepairParts {
  readonly replicator: Replicator;
  readonly scrubber: Scrubber;
  readonly floors: FloorPorts;
}

const nowMs = (): number => Date.now();
const monotonicMs = (): number => performance.now();

export function assembleRepair(parts: Parts, metrics: Metrics, log: Logger): RepairParts {
  const { store, devices, peerClocks, requireDropsAllowed } = parts;
  // A clock that is ahead of the other servers must not raise a floor.
  const agreedMs = (): number => nowMs() - peerClocks.aheadMs(nowMs());
  return {
    replicator: createReplicator(parts, metrics, log),
    scrubber: createScrubber(parts, log),
    floors: { store, devices, nowMs: agreedMs, requireDropsAllowed },
  };
}

function createScrubber({ store, reconciler }: Parts, log: Logger): Scrubber {
  return new Scrubber({
    ...{ store, monotonicMs, nowMs },
    onFindings: (keyspace, partition, findings) => {
      log.error({ keyspace, partition, findings }, 'partition file damaged');
      reconciler.reconcile(keyspace);
    },
    onLogLost: (err) => log.error({ err }, 'commit log lost: it begins anew'),
    onError: (error) => log.warn({ err: error }, 'partition file not scrubbed'),
  });
}

function createReplicator(
  { store, devices, decide, reconciler }: Parts,
  metrics: Metrics,
  log: Logger,
): Replicator {
  return new Replicator({
    ...{ store, devices, decide, reconciler, nowMs },
    onBehind: async (keyspace, partition) => {
      log.warn({ keyspace, partition }, 'file behind the floor of its peers: it refills');
      await store.setState(keyspace, partition, 'filling');
      reconciler.reconcile(keyspace);
    },
    onPushed: (rows) => metrics.replicatedRows.inc(rows),
    onError: (device, error) => log.debug({ device, error }, 'replication waits'),
  });
}
