// Builds the reconciler, which makes the partition files match the active rings.
import { join } from 'node:path';
import { CodedError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { printReceipt } from '@ringwright/ring/trust/move-receipt';
import type { Logger } from 'pino';
import type { RingParts } from './assemble-rings.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { DropGuard } from './moves/drop-guard.ts';
import { Reconciler, type ReconcilerPorts } from './moves/reconciler.ts';
import type { OpenedDevice } from './open-device.ts';
import { addressOf } from './rings/active-ring.ts';

export function createReconciler(
  {
    store,
    audit,
    controls,
    onceComplete,
    held,
    identity,
    generation,
    key,
    directory,
  }: OpenedDevice,
  { rings, requireDropsAllowed }: RingParts,
  ports: Pick<ReconcilerPorts, 'devices' | 'decide' | 'inFlight'> & {
    readonly throttle: AdaptiveThrottle;
    readonly unknownPeers: ReadonlySet<string>;
    readonly log: Logger;
  },
): Reconciler {
  const { devices, decide, inFlight, throttle, unknownPeers, log } = ports;
  return new Reconciler({
    ...{ store, controls, onceComplete, held, devices, decide, inFlight, requireDropsAllowed },
    ...throttle.taking,
    signReceipt: (receipt) =>
      printReceipt({ ...receipt, born: identity.born, ms: Date.now() }, key),
    current: (keyspace) => rings.get(keyspace),
    isUnknownPeer: (active, device) =>
      generation.wasPutBack || unknownPeers.has(addressOf(active, device)),
    monotonicMs: () => performance.now(),
    guard: new DropGuard(join(directory, 'drops')),
    address: formatAddress(identity.address),
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
