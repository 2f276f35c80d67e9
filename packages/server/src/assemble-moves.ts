// The parts of a server that look after its files: what rings ask of them, what is pushed to
// others, what is looked at.

import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import type { Store } from '@ringwright/partition/store';
import { printReceipt } from '@ringwright/ring/trust/move-receipt';
import type { Logger } from 'pino';
import type { RingParts } from './assemble-rings.ts';
import type { PeerClocks } from './clocks/peer-clocks.ts';
import type { FinishProposal } from './coordinate/propose.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { DropGuard } from './moves/drop-guard.ts';
import { Reconciler, type ReconcilerPorts } from './moves/reconciler.ts';
import type { OpenedDevice } from './open-device.ts';
import type { DeviceCaller } from './peers/device-caller.ts';
import type { FloorPorts } from './repair/raise-floor.ts';
import { Replicator } from './repair/replicate.ts';
import { Scrubber } from './repair/scrubber.ts';
import { addressOf, whyUnnamed } from './rings/active-ring.ts';
import type { Rings } from './rings/rings.ts';
import type { Metrics } from './telemetry/metrics.ts';

export function createReconciler(
  opened: OpenedDevice,
  { rings, requireDropsAllowed }: RingParts,
  ports: Pick<ReconcilerPorts, 'devices' | 'decide' | 'inFlight'> & {
    readonly throttle: AdaptiveThrottle;
    readonly unknownPeers: ReadonlySet<string>;
    /** Greets a server again: it may have learned more about this one since. */
    readonly greetAnew: (address: string) => Promise<void>;
    readonly log: Logger;
  },
): Reconciler {
  const { audit, identity, generation, key, directory } = opened;
  const { throttle, unknownPeers, greetAnew, log } = ports;
  return new Reconciler({
    ...{ ...opened, ...ports, requireDropsAllowed },
    ...throttle.taking,
    signReceipt: (receipt) => printReceipt({ ...receipt, born: identity.born, ms: nowMs() }, key),
    current: (keyspace) => rings.get(keyspace),
    isUnknownPeer: async (active, device) => {
      const address = addressOf(active, device);
      await greetAnew(address);
      return generation.isRestored || unknownPeers.has(address);
    },
    monotonicMs,
    guard: new DropGuard(join(directory, 'drops')),
    address: formatAddress(identity.address),
    whyUnnamed: (active) => whyUnnamed(active, { key, identity }),
    onDropped: (keyspace, partition) =>
      audit.noteOwn('drop', `${keyspace}/${partition}: to the trash`),
    onRepair: ({ sentence, ...repair }) => log.info(repair, sentence),
    onError: (step, error) => logFailedDuty(log, step, error),
  });
}

/**
 * Logs a duty that failed. While a new ring spreads from server to server, many duties have to wait
 * for it: every ring change goes through this, so such failures are logged at debug level only. A
 * duty that stays blocked shows up in `ring-builder moves` and `ring-builder health`.
 */
export function logFailedDuty(
  log: Pick<Logger, 'debug' | 'warn'>,
  step: { readonly kind: string; readonly keyspace: string },
  error: unknown,
): void {
  const isWaiting = error instanceof CodedError && error.retry === 'after-ring';
  log[isWaiting ? 'debug' : 'warn']({ ...step, error }, 'duty failed, will be tried again');
}

interface Parts {
  readonly store: Store;
  readonly rings: Rings;
  readonly devices: DeviceCaller;
  readonly decide: FinishProposal;
  readonly reconciler: Reconciler;
  readonly peerClocks: PeerClocks;
  readonly requireDropsAllowed: FloorPorts['requireDropsAllowed'];
}

export function assembleRepair(parts: Parts, metrics: Metrics, log: Logger) {
  const { store, devices, peerClocks, requireDropsAllowed } = parts;
  // A clock that is ahead of the other servers must not raise a floor.
  const agreedMs = (): number => nowMs() - peerClocks.aheadMs(nowMs());
  return {
    replicator: createReplicator(parts, metrics, log),
    scrubber: createScrubber(parts, log),
    floors: { store, devices, nowMs: agreedMs, requireDropsAllowed },
  };
}

function createScrubber({ store, rings, reconciler }: Parts, log: Logger): Scrubber {
  return new Scrubber({
    ...{ store, rings, monotonicMs, nowMs },
    onFindings: (keyspace, partition, findings) => {
      log.error({ keyspace, partition, findings }, 'partition file damaged');
      reconciler.reconcile(keyspace);
    },
    onLogLost: (err) => log.error({ err }, 'commit log lost: a new one was begun'),
    onRingsLost: (keyspaces) =>
      log.error({ keyspaces }, 'ring files lost: they were written again'),
    onError: (error) => log.warn({ err: error }, 'file not checked'),
  });
}

function createReplicator(
  { store, devices, decide, reconciler }: Parts,
  metrics: Metrics,
  log: Logger,
): Replicator {
  return new Replicator({
    ...{ store, devices, decide, reconciler, nowMs },
    onMissedDeletions: async (keyspace, partition) => {
      log.warn({ keyspace, partition }, 'file behind the floor of its peers: it refills');
      await store.setState(keyspace, partition, 'filling');
      reconciler.reconcile(keyspace);
    },
    onPushed: (rows) => metrics.replicatedRows.inc(rows),
    onError: (device, error) => log.debug({ device, error }, 'replication is delayed'),
  });
}
