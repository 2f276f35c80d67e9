// The parts of a server that look after what it holds: what is pushed to others, what is looked at.
import type { Store } from '@ringwright/partition/store';
import type { Logger } from 'pino';
import type { FinishProposal } from './coordinate/propose.ts';
import type { Reconciler } from './moves/reconciler.ts';
import type { DeviceCaller } from './peers/device-caller.ts';
import { Replicator } from './repair/replicate.ts';
import { Scrubber } from './repair/scrubber.ts';
import type { Metrics } from './telemetry/metrics.ts';

const nowMs = (): number => Date.now();
const monotonicMs = (): number => performance.now();

export function createScrubber(store: Store, reconciler: Reconciler, log: Logger): Scrubber {
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

export function createReplicator(
  parts: {
    readonly store: Store;
    readonly devices: DeviceCaller;
    readonly decide: FinishProposal;
    readonly reconciler: Reconciler;
  },
  metrics: Metrics,
  log: Logger,
): Replicator {
  return new Replicator({
    ...parts,
    nowMs,
    onBehind: async (keyspace, partition) => {
      log.warn({ keyspace, partition }, 'file behind the floor of its peers: it refills');
      await parts.store.setState(keyspace, partition, 'filling');
      parts.reconciler.reconcile(keyspace);
    },
    onPushed: (rows) => metrics.replicatedRows.inc(rows),
    onError: (device, error) => log.debug({ device, error }, 'replication waits'),
  });
}
