// The scrubber of a server: what it reads, and whom it tells of damage.
import type { Store } from '@ringwright/partition/store';
import type { Logger } from 'pino';
import type { Reconciler } from './moves/reconciler.ts';
import { Scrubber } from './repair/scrubber.ts';

export function createScrubber(store: Store, reconciler: Reconciler, log: Logger): Scrubber {
  return new Scrubber({
    ...{ store, monotonicMs: () => performance.now(), nowMs: Date.now },
    onFindings: (keyspace, partition, findings) => {
      log.error({ keyspace, partition, findings }, 'partition file damaged');
      reconciler.reconcile(keyspace);
    },
    onLogLost: (err) => log.error({ err }, 'commit log lost: it begins anew'),
    onError: (error) => log.warn({ err: error }, 'partition file not scrubbed'),
  });
}
