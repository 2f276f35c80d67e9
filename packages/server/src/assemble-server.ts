// The parts of a running server, wired by hand. Nothing listens and nothing repeats yet.

import { minorGcBytesMax } from '@ringwright/base/limits-copies';
import { answeringAllBytesMax } from '@ringwright/base/limits-wire';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import { collectEach } from '@ringwright/node/v8/collect-garbage';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import type { CallHandler } from '@ringwright/wire/call-channel';
import type { Logger } from 'pino';
import { affordableBytes } from './access/byte-budget.ts';
import { createClocks, createCoordinator, ownWrites } from './assemble-coordinator.ts';
import { createGuard } from './assemble-guard.ts';
import { assembleRepair, createReconciler } from './assemble-moves.ts';
import { assemblePeers } from './assemble-peers.ts';
import { assembleRings } from './assemble-rings.ts';
import type { ClientCertificates } from './client-certificates.ts';
import { type FinishProposal, finishProposal } from './coordinate/propose.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { CopySource } from './copies/copy-answers.ts';
import { fillHandlers } from './handlers.ts';
import type { OpenedDevice } from './open-device.ts';
import { deviceCallers } from './peers/device-caller.ts';
import { InFlight } from './replica/in-flight.ts';
import { LongReads } from './replica/long-reads.ts';
import { RoundQueue } from './replica/round-queue.ts';
import { type ActiveRing, whyUnnamed } from './rings/active-ring.ts';
import type { ConnectBack } from './rings/ring-exchange.ts';
import { RingRequests } from './rings/ring-requests.ts';
import { measureCopies } from './status/measure-status.ts';
import { isAllReady, type ShownCertificate, type StatusPorts } from './status/status.ts';
import { createMetrics } from './telemetry/metrics.ts';

export type ServerParts = Awaited<ReturnType<typeof assembleServer>>;

/** Used for waits and pauses, which a jump of the machine's clock must not stretch. */

interface Surroundings {
  readonly log: Logger;
  readonly throttle: AdaptiveThrottle;
  /** The token that this server shows to others. Null: it shows none. */
  readonly token: string | null;
  readonly certificates: ClientCertificates;
  /** Whether all callers are refused until the first access document has arrived. */
  readonly isStrict: boolean;
  /** The only address at which the role operator counts; null: it counts at every address. */
  readonly operatorListen: string | null;
  /** Whether this server uses TLS only, on connections to other servers too. */
  readonly demandsTls: boolean;
  readonly certificate: () => ShownCertificate | null;
  /**
   * Whether other machines reach this server without TLS, trust or access control, because an
   * operator wanted it so.
   */
  readonly insecure: boolean;
}

/** Collects young garbage once per minorGcBytesMax of long messages, over all connections. */
const onLongMessage = collectEach(minorGcBytesMax);

/**
 * Loads the rings from disk and wires the parts, in the order of their dependencies. From then on
 * the reconciler follows each ring that is activated.
 */
export async function assembleServer(opened: OpenedDevice, surroundings: Surroundings) {
  const { log, throttle, demandsTls, certificate, insecure } = surroundings;
  const { store, audit } = opened;
  const metrics = createMetrics();
  const clocks = createClocks(opened);
  const { clock, peerClocks, stamps } = clocks;
  const handlers = new Map<string, CallHandler>();
  const onBug = (error: unknown): void => log.error({ error }, 'request failed');
  const answers = { handlers, budget: answerBudget(), onLongMessage, onBug };
  // Servers that the tool could not reach learn about the change from this server at once.
  const onChange = (): void => void peerParts.greetPeers();
  const guard = createGuard(opened, { ...surroundings, metrics, onChange });

  const onActivate = (active: ActiveRing, before: ActiveRing | undefined): void => {
    noteActivation(active, before, { ...opened, log });
    // Not in the turn that swaps the ring: during the start the reconciler does not exist yet.
    setImmediate(() => {
      peerParts.followKeys();
      reconciler.reconcile(active.ring.keyspace);
    });
  };
  const connectBack: ConnectBack = (caller) => peerParts.knownPeers.connectBack(caller);
  const ringParts = await assembleRings(opened, { metrics, log, onActivate, connectBack, guard });
  const { rings, forks, exchange, trustExchange, requireDropsAllowed } = ringParts;
  const reconcileAll = (): void => {
    for (const active of rings.list()) reconciler.reconcile(active.ring.keyspace);
  };

  const [unknownPeers, refusingPeers] = [new Set<string>(), new Set<string>()];
  const seen = { unknownPeers, refusingPeers };
  // Without any ring, nobody knows yet what this device should hold.
  const isComplete = (): boolean => rings.list().length > 0 && isAllReady(status);
  const onConnect = (): void => {
    repair.replicator.forget();
    reconcileAll();
  };
  const peerParts = assemblePeers(
    { ...opened, ...clocks, ...ringParts, guard, ...seen, isComplete, nowMs },
    { ...surroundings, answers, monotonicMs, onConnect, onRefill: reconcileAll },
  );
  const { peers, proven, introduce, greetPeers, meetHolders, reconnects, awaitPeers } = peerParts;

  const [requests, queues] = [new RingRequests(), replicaQueues()];
  const untilIdle = (keyspace: string): Promise<void> => reconciler.idle(keyspace);
  const replica = { store, exchange, clock, ...queues, opened: untilIdle };
  const ownWrite = ownWrites(replica, requests, throttle);
  const callers = deviceCallers({ ...peerParts, handlers, ownWrite, onBug });
  const devices = measureCopies(metrics, callers.devices);

  const decide: FinishProposal = (keyspace, key) => finishProposal(coordinator, keyspace, key);
  const moveParts = { ...peerParts, devices, decide, ...queues, throttle, unknownPeers, log };
  const reconciler = createReconciler(opened, ringParts, moveParts);
  const repairParts = { store, rings, devices: callers.devices, decide, reconciler, peerClocks };
  const repair = assembleRepair({ ...repairParts, requireDropsAllowed }, metrics, log);

  const requestParts = { requests, devices: callers.forRequests, clocks };
  const coordinator = createCoordinator({ ...peerParts, ...ringParts, ...requestParts });
  const copies = new CopySource({ ...replica, monotonicMs, ...throttle.giving });
  const operatorParts = { ...opened, rings, forks, requests, reconciler, peers, throttle };
  const statusParts = { demandsTls, certificate, insecure, clocks, uptimeMs: monotonicMs, nowMs };
  const status: StatusPorts = { ...operatorParts, ...repair, ...statusParts, refusingPeers };
  fillHandlers(handlers, {
    ...{ guard, audit, proven, replica, introduce, copies, throttle, ...repair },
    ...{ trash: operatorParts, moves: operatorParts, trust: trustExchange },
    ...{ clients: { coordinator, metrics }, onBug },
  });
  const work = { reconciler, copies, ...repair, greetPeers, meetHolders, reconnects, awaitPeers };
  const shown = { status, metrics, guard, onBug };
  return { ...work, rings, peers, proven, answers, coordinator, stamps, ...shown };
}

/** What requests to the replica wait in. */
function replicaQueues() {
  return { inFlight: new InFlight(), longReads: new LongReads(), rounds: new RoundQueue() };
}

function answerBudget(): AnswerBudget {
  return new AnswerBudget(affordableBytes(answeringAllBytesMax));
}

function noteActivation(
  active: ActiveRing,
  before: ActiveRing | undefined,
  { log, audit, key, identity, memory }: OpenedDevice & { readonly log: Logger },
): void {
  memory.follow(active.ring.devices, before?.ring.devices ?? []);
  const { id, self } = active;
  const { keyspace, version } = active.ring;
  log.info({ ring: keyspace, version, id, device: self }, 'ring activated');
  const unnamedReason = whyUnnamed(active, { key, identity });
  if (unnamedReason !== null) log.warn({ ring: keyspace }, unnamedReason);
  audit.noteOwn('ring', `${keyspace} ${version}, ${id.slice(0, 12)}: active`);
}
