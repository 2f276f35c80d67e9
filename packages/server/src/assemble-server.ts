// The parts of a running server, wired by hand. Nothing listens and nothing repeats yet.
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { roundPauseMsMax } from '@ringwright/base/limits';
import { andThen, type MaybePromise } from '@ringwright/base/maybe-promise';
import type { Stamp } from '@ringwright/base/stamp';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import type { Answers } from '@ringwright/node/link/socket-channel';
import type { Store } from '@ringwright/partition/store';
import { printReceipt } from '@ringwright/ring/trust/move-receipt';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import type { CallHandler } from '@ringwright/wire/call-channel';
import type { Logger } from 'pino';
import type { Guard } from './access/guard.ts';
import { createGuard } from './assemble-guard.ts';
import { assemblePeers, type PeerParts } from './assemble-peers.ts';
import { createReplicator, createScrubber } from './assemble-repair.ts';
import { assembleRings } from './assemble-rings.ts';
import { activated, dropped } from './audit/audit-events.ts';
import type { AuditLog } from './audit/audit-log.ts';
import type { ClientCertificates } from './client-certificates.ts';
import type { ClockFile } from './clocks/clock-file.ts';
import { PeerClocks } from './clocks/peer-clocks.ts';
import { proveClock } from './clocks/prove-clock.ts';
import { StampIssuer } from './clocks/stamp-issuer.ts';
import { type FinishProposal, finishProposal } from './coordinate/propose.ts';
import type { CoordinatorPorts } from './coordinate/with-newest-ring.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import { CopySource } from './copies/copy-answers.ts';
import type { DeviceGeneration } from './device/device-generation.ts';
import type { DeviceIdentity } from './device/device-identity.ts';
import type { OnceComplete } from './device/once-complete.ts';
import { fillHandlers } from './handlers.ts';
import { DropGuard } from './moves/drop-guard.ts';
import type { HeldFiles } from './moves/held-files.ts';
import type { MoveControls } from './moves/move-controls.ts';
import { Reconciler, type ReconcilerPorts } from './moves/reconciler.ts';
import { ownWrites } from './own-writes.ts';
import { deviceCallers } from './peers/device-caller.ts';
import { longMessageCame } from './peers/minor-gc.ts';
import type { PeerMemory } from './peers/peer-memory.ts';
import type { Peers } from './peers/peers.ts';
import type { ProvenPeers } from './peers/proven-peers.ts';
import type { FloorPorts } from './repair/raise-floor.ts';
import type { Replicator } from './repair/replicate.ts';
import type { Scrubber } from './repair/scrubber.ts';
import { InFlight } from './replica/in-flight.ts';
import { RoundQueue } from './replica/round-queue.ts';
import { type ActiveRing, addressOf } from './rings/active-ring.ts';
import type { CallBack, RingExchange } from './rings/ring-exchange.ts';
import { RingRequests } from './rings/ring-requests.ts';
import type { Rings } from './rings/rings.ts';
import { measureCopies } from './status/measure-store.ts';
import { isAllReady, type StatusPorts } from './status/status.ts';
import { logFailedDuty } from './telemetry/log-failed-duty.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { AccessStore } from './trust/access-store.ts';
import type { TrustStore } from './trust/trust-store.ts';

/** What a server has on its disk: opened before, closed after everything else. */
export interface OpenedDevice {
  readonly directory: string;
  readonly identity: DeviceIdentity;
  readonly generation: DeviceGeneration;
  readonly store: Store;
  readonly clockFile: ClockFile;
  readonly memory: PeerMemory;
  readonly trust: TrustStore;
  readonly access: AccessStore;
  readonly audit: AuditLog;
  readonly controls: MoveControls;
  readonly onceComplete: OnceComplete;
  readonly held: HeldFiles;
  /** Signs what this device says. */
  readonly key: KeyObject;
  /** The same key, as it is shown to others. */
  readonly tls: TlsIdentity;
}

export interface ServerParts extends Pick<PeerParts, 'greetPeers' | 'meetHolders'> {
  readonly rings: Rings;
  readonly peers: Peers;
  readonly proven: ProvenPeers;
  readonly reconciler: Reconciler;
  readonly replicator: Replicator;
  readonly copies: CopySource;
  readonly answers: Answers;
  readonly coordinator: CoordinatorPorts;
  readonly stamps: StampIssuer;
  readonly floors: FloorPorts;
  readonly scrubber: Scrubber;
  readonly status: StatusPorts;
  readonly metrics: Metrics;
  readonly guard: Guard;
}

const nowMs = (): number => Date.now();
/** For waits and pauses, which a step of the machine's clock must not stretch. */
const monotonicMs = (): number => performance.now();

interface Surroundings {
  readonly log: Logger;
  readonly throttle: AdaptiveThrottle;
  /** What this server shows to others; null: nothing, so others need show it nothing either. */
  readonly token: string | null;
  readonly certificates: ClientCertificates;
  /** Whether nobody is let in before the first access document has come. */
  readonly isStrict: boolean;
  /** Where the role operator counts; null: everywhere. */
  readonly operatorListen: string | null;
  /** Nothing is said without TLS, to other servers either. */
  readonly demandsTls: boolean;
  /** Other machines reach it without TLS, trust or access: an operator wanted it so. */
  readonly insecure: boolean;
}

/**
 * Loads the rings of the disk and joins the parts. The reconciler follows rings that are
 * activated from here on.
 */
export async function assembleServer(
  opened: OpenedDevice,
  surroundings: Surroundings,
): Promise<ServerParts> {
  const { log, throttle, token, demandsTls, insecure } = surroundings;
  const { identity, store, trust, controls } = opened;
  const { clock, peerClocks, stamps } = createClocks(opened);
  const metrics = createMetrics();
  const handlers = new Map<string, CallHandler>();
  const answers = { handlers, budget: new AnswerBudget(), onLongMessage: longMessageCame };
  // Whom the tool could not reach hears of it from the others at once.
  const onChange = (): void => void greetings.greetPeers();
  const guard = createGuard(opened, { ...surroundings, metrics, onChange });
  const [inFlight, unknownPeers] = [new InFlight(), new Set<string>()];
  const onActivate = (active: ActiveRing): void => {
    noteActivation(active, metrics, log);
    opened.audit.note(activated(active));
    // Not in the turn of the swap: at start the reconciler is not there yet.
    setImmediate(() => {
      followKeys();
      reconciler.reconcile(active.ring.keyspace);
    });
  };
  const callBack: CallBack = (caller) => knownPeers.callBack(caller);
  const ports = { metrics, log, nowMs, monotonicMs, onActivate, callBack };
  const ringParts = await assembleRings(opened, ports);
  const { rings, forks, exchange, relay, trustExchange, ...gate } = ringParts;
  const reconcileAll = (): void => {
    for (const active of rings.list()) reconciler.reconcile(active.ring.keyspace);
  };
  // Without rings nobody knows yet what this device should hold.
  const isComplete = (): boolean => rings.list().length > 0 && isAllReady(status);
  const times = { clock, peerClocks, nowMs };
  const known = { guard, trustExchange, unknownPeers, isComplete };
  const own = { ...opened, ...times, ...known, rings, exchange, relay };
  const onConnect = (): void => {
    replicator.forget();
    reconcileAll();
  };
  const onRefill = reconcileAll;
  const meetings = { answers, demandsTls, log, token, monotonicMs, onConnect, onRefill };
  const met = assemblePeers(own, meetings);
  const { peers, knownPeers, proven, followKeys, introduce, hearClock, ...greetings } = met;
  const { devices, forRequests } = deviceCallers({ ...met, handlers }, (...to) => writeHere(...to));
  const decide: FinishProposal = (keyspace, key) => finishProposal(coordinator, keyspace, key);
  const calls = { devices: measureCopies(metrics, devices), inFlight, ...throttle.taking };
  const files = { ...opened, ...calls, decide };
  const reconciler = createReconciler(files, { ...gate, rings, unknownPeers, log });
  const replicator = createReplicator({ store, devices, decide, reconciler }, metrics, log);
  // A floor is not raised by a clock that is ahead of the others.
  const floors = { store, devices, nowMs: () => nowMs() - peerClocks.aheadMs(nowMs()), ...gate };
  const scrubber = createScrubber(store, reconciler, log);
  const opening = reconciler.idle.bind(reconciler);
  const replica = { store, exchange, clock, inFlight, rounds: new RoundQueue(), opened: opening };
  const requests = new RingRequests();
  const writeHere = ownWrites({ replica, requests, throttle });
  const held = { identity, rings, forks, requests, store, reconciler };
  const parts = { ...held, controls, peers, trust, throttle };
  const told = { key: opened.key, demandsTls, insecure };
  const status: StatusPorts = { ...parts, ...told, scrubber, startedMs: nowMs(), nowMs };
  const asked = { rings, requests, devices: forRequests, clock, stamps };
  const coordinator = coordinatorPorts(asked, { exchange, peers, peerClocks, hearClock });
  const copies = new CopySource({ ...replica, monotonicMs, ...throttle.giving });
  const clients = { coordinator, metrics };
  const edges = { guard, audit: opened.audit, proven, clients, moves: parts, trust: trustExchange };
  const answering = { replica, introduce, copies, throttle, scrubber, trash: parts };
  fillHandlers(handlers, { ...answering, ...edges });
  const work = { reconciler, replicator, copies, floors, scrubber, ...greetings };
  return { ...work, rings, peers, proven, answers, coordinator, stamps, status, metrics, guard };
}

function createClocks({ store, clockFile }: OpenedDevice) {
  const peerClocks = new PeerClocks(monotonicMs);
  const clock = new HybridClock(
    nowMs,
    () => peerClocks.agreedMs(nowMs()),
    () => peerClocks.behindMs(nowMs()),
  );
  // One above: a stamp of the last millisecond before the restart must not be issued twice. Those
  // that were issued here lie below what was saved too, so a file from elsewhere may be left out.
  const highest = { ms: store.highestMs() + 1, tie: 0 };
  if (clockFile.savedMs === 0) clock.observe(highest);
  else clock.learn(highest);
  const stamps = new StampIssuer({ clock, ...clockFile });
  return { clock, peerClocks, stamps };
}

function noteActivation({ ring, id, self }: ActiveRing, metrics: Metrics, log: Logger): void {
  const { keyspace, version } = ring;
  log.info({ ring: keyspace, version, id, device: self }, 'ring activated');
  metrics.ringVersion.set({ ring: keyspace }, version);
}

function coordinatorPorts(
  {
    stamps,
    ...parts
  }: Pick<CoordinatorPorts, 'rings' | 'requests' | 'devices' | 'clock'> & {
    readonly stamps: StampIssuer;
  },
  {
    exchange,
    peers,
    peerClocks,
    hearClock: meet,
  }: {
    readonly exchange: RingExchange;
    readonly peers: Peers;
    readonly peerClocks: PeerClocks;
    readonly hearClock: PeerParts['hearClock'];
  },
): CoordinatorPorts {
  const proof = { clocks: peerClocks, nowMs, meet };
  const issueStamp = (active: ActiveRing, key: Uint8Array): MaybePromise<Stamp> =>
    andThen(proveClock(proof, active, active.partitionOf(key)), () => {
      peerClocks.check(nowMs());
      return stamps.issue(active.tieDevice, () => issueStamp(active, key));
    });
  return {
    ...parts,
    mutex: new KeyedMutex(),
    backOff: (tries) => delay(Math.random() * Math.min(2 ** tries, roundPauseMsMax)),
    issueStamp,
    catchUp: async (active, device) => {
      const peer = await peers.connect(addressOf(active, device)).connect();
      return exchange.catchUp(active.ring.keyspace, peer);
    },
  };
}

function createReconciler(
  {
    store,
    audit,
    controls,
    onceComplete,
    held,
    identity,
    key,
    directory,
    ...calls
  }: Pick<OpenedDevice, 'store' | 'controls' | 'onceComplete' | 'held'> &
    Pick<OpenedDevice, 'audit' | 'identity' | 'key' | 'directory'> &
    Pick<ReconcilerPorts, 'devices' | 'decide' | 'inFlight'> &
    AdaptiveThrottle['taking'],
  ports: {
    readonly rings: Rings;
    readonly unknownPeers: ReadonlySet<string>;
    readonly log: Logger;
    readonly requireDropsAllowed: ReconcilerPorts['requireDropsAllowed'];
  },
): Reconciler {
  const { rings, unknownPeers, log, requireDropsAllowed } = ports;
  return new Reconciler({
    ...{ store, controls, onceComplete, held, ...calls },
    signReceipt: (receipt) => printReceipt({ ...receipt, born: identity.born, ms: nowMs() }, key),
    requireDropsAllowed,
    current: (keyspace) => rings.get(keyspace),
    isUnknownPeer: (active, device) => unknownPeers.has(addressOf(active, device)),
    monotonicMs,
    guard: new DropGuard(join(directory, 'drops')),
    onDropped: (...place) => audit.note(dropped(...place)),
    onRepair: ({ sentence, ...repair }) => log.info(repair, sentence),
    onError: (step, error) => logFailedDuty(log, step, error),
  });
}
