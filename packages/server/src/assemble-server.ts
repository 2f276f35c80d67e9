// The parts of a running server, wired by hand. Nothing listens and nothing repeats yet.
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { roundPauseMsMax } from '@ringwright/base/limits';
import { after } from '@ringwright/base/maybe-promise';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { Answers } from '@ringwright/node/link/socket-channel';
import type { Store } from '@ringwright/partition/store';
import { printReceipt } from '@ringwright/ring/trust/move-receipt';
import { AnswerBudget } from '@ringwright/wire/answer-budget';
import type { CallHandler } from '@ringwright/wire/call-channel';
import type { Logger } from 'pino';
import { assemblePeers, type PeerParts } from './assemble-peers.ts';
import { assembleRings } from './assemble-rings.ts';
import type { ClockFile } from './clocks/clock-file.ts';
import { PeerClocks } from './clocks/peer-clocks.ts';
import { proveClock } from './clocks/prove-clock.ts';
import { StampIssuer } from './clocks/stamp-issuer.ts';
import { settleKey } from './coordinate/decide-key.ts';
import type { DecideKey } from './coordinate/settle-promises.ts';
import type { CoordinatorPorts } from './coordinate/with-newest-ring.ts';
import { CopySource } from './copies/copy-answers.ts';
import type { CopyPace } from './copies/copy-pace.ts';
import type { DeviceIdentity } from './device/device-identity.ts';
import type { DeviceLife } from './device/device-life.ts';
import type { OnceComplete } from './device/once-complete.ts';
import { fillHandlers } from './handlers.ts';
import { DropBrake } from './moves/drop-brake.ts';
import type { HeldFiles } from './moves/held-files.ts';
import type { MoveControls } from './moves/move-controls.ts';
import { Mover, type MoverPorts } from './moves/mover.ts';
import { type DeviceCaller, deviceCaller } from './peers/device-caller.ts';
import type { PeerMemory } from './peers/peer-memory.ts';
import type { Peers } from './peers/peers.ts';
import { longMessageCame } from './peers/young-garbage.ts';
import type { FloorPorts } from './repair/raise-floor.ts';
import { Replicator } from './repair/replicate.ts';
import { Scrubber } from './repair/scrubber.ts';
import { InFlight } from './replica/in-flight.ts';
import { RoundQueue } from './replica/round-queue.ts';
import { type ActiveRing, addressOf } from './rings/active-ring.ts';
import type { CallBack, RingExchange } from './rings/ring-exchange.ts';
import { RingRequests } from './rings/ring-requests.ts';
import type { Rings } from './rings/rings.ts';
import { measureCopies } from './status/measure-store.ts';
import { readiness, type StatusPorts } from './status/status.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { TrustStore } from './trust/trust-store.ts';

/** What a server has on its disk: opened before, closed after everything else. */
export interface OpenedDevice {
  readonly directory: string;
  readonly identity: DeviceIdentity;
  readonly life: DeviceLife;
  readonly store: Store;
  readonly clockFile: ClockFile;
  readonly memory: PeerMemory;
  readonly trust: TrustStore;
  readonly controls: MoveControls;
  readonly onceComplete: OnceComplete;
  readonly held: HeldFiles;
  /** Signs what this device says. */
  readonly key: KeyObject;
}

export interface ServerParts extends Pick<PeerParts, 'greetPeers' | 'meetHolders'> {
  readonly rings: Rings;
  readonly peers: Peers;
  readonly mover: Mover;
  readonly replicator: Replicator;
  readonly copies: CopySource;
  readonly answers: Answers;
  readonly coordinator: CoordinatorPorts;
  readonly stamps: StampIssuer;
  readonly floors: FloorPorts;
  readonly scrubber: Scrubber;
  readonly status: StatusPorts;
  readonly metrics: Metrics;
}

const nowMs = (): number => Date.now();
/** For waits and pauses, which a step of the machine's clock must not stretch. */
const monotonicMs = (): number => performance.now();

/**
 * Loads the rings of the disk and joins the parts. Rings activated from here on set the mover to
 * work.
 */
export async function assembleServer(
  opened: OpenedDevice,
  { log, pace }: { readonly log: Logger; readonly pace: CopyPace },
): Promise<ServerParts> {
  const { identity, store, trust, controls } = opened;
  const { clock, peerClocks, stamps } = createClocks(opened);
  const metrics = createMetrics();
  const handlers = new Map<string, CallHandler>();
  const answers = { handlers, budget: new AnswerBudget(), onLongMessage: longMessageCame };
  const inFlight = new InFlight();
  const strangers = new Set<string>();
  const onActivate = (active: ActiveRing): void => {
    noteActivation(active, metrics, log);
    // Not in the turn of the swap: at start the mover is not there yet.
    setImmediate(() => mover.review(active.ring.keyspace));
  };
  const callBack: CallBack = (caller) => knownPeers.callBack(caller);
  const around = { metrics, log, nowMs, monotonicMs, onActivate, callBack };
  const { rings, forks, exchange, relay, trustExchange, ...gate } = await assembleRings(
    opened,
    around,
  );
  const reviewAll = (): void => {
    for (const active of rings.list()) mover.review(active.ring.keyspace);
  };
  // Without rings nobody knows yet what this device should hold.
  const settled = (): boolean => rings.list().length > 0 && readiness(status).ready;
  const own = { ...opened, rings, exchange, relay, clock, peerClocks, nowMs, strangers, settled };
  const onConnect = (): void => {
    replicator.forget();
    reviewAll();
  };
  const meetings = { answers, log, monotonicMs, onConnect, onRefill: reviewAll };
  const { peers, knownPeers, introduce, hearClock, ...greetings } = assemblePeers(own, meetings);
  const devices = deviceCaller({ peers, handlers });
  const decide: DecideKey = (keyspace, key) => settleKey(coordinator, keyspace, key);
  const calls = { devices: measureCopies(metrics, devices), inFlight, ...pace.taking };
  const mover = createMover({ ...opened, ...calls, decide }, { rings, strangers, log, ...gate });
  const replicator = createReplicator({ store, devices, decide, mover }, metrics, log);
  // A floor is not raised by a clock that is ahead of the others.
  const floors = { store, devices, nowMs: () => nowMs() - peerClocks.aheadMs(nowMs()), ...gate };
  const scrubber = createScrubber(store, mover, log);
  const rounds = new RoundQueue();
  const opening = mover.settled.bind(mover);
  const replica = { store, exchange, clock, inFlight, rounds, opened: opening };
  const requests = new RingRequests();
  const parts = { identity, rings, forks, requests, store, mover, controls, peers, trust, pace };
  const status: StatusPorts = { ...parts, scrubber, startedMs: nowMs(), nowMs };
  const asked = { rings, requests, devices, clock, stamps };
  const coordinator = coordinatorPorts(asked, { exchange, peers, peerClocks, hearClock });
  const copies = new CopySource({ ...replica, monotonicMs, ...pace.giving });
  const edges = { clients: { coordinator, metrics }, moves: parts, trust: trustExchange };
  fillHandlers(handlers, { replica, introduce, copies, pace, scrubber, trash: parts, ...edges });
  const work = { mover, replicator, copies, floors, scrubber, ...greetings };
  return { ...work, rings, peers, answers, coordinator, stamps, status, metrics };
}

function createClocks({ store, clockFile }: OpenedDevice) {
  const peerClocks = new PeerClocks(monotonicMs);
  const clock = new HybridClock(nowMs, () => peerClocks.agreedMs(nowMs()));
  // One above: a stamp of the last millisecond before the restart must not be issued twice.
  clock.observe({ ms: store.highestMs() + 1, tie: 0 });
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
  return {
    ...parts,
    mutex: new KeyedMutex(),
    backOff: (tries) => delay(Math.random() * Math.min(2 ** tries, roundPauseMsMax)),
    issueStamp: (active, key) =>
      after(proveClock(proof, active, active.partitionOf(key)), () => {
        peerClocks.check(nowMs());
        return stamps.issue(active.tieDevice);
      }),
    catchUp: async (active, device) => {
      const peer = await peers.connect(addressOf(active, device)).connect();
      return exchange.catchUp(active.ring.keyspace, peer);
    },
  };
}

function createMover(
  {
    store,
    controls,
    onceComplete,
    held,
    identity,
    key,
    directory,
    ...calls
  }: Pick<OpenedDevice, 'store' | 'controls' | 'onceComplete' | 'held'> &
    Pick<OpenedDevice, 'identity' | 'key' | 'directory'> &
    Pick<MoverPorts, 'devices' | 'decide' | 'inFlight' | 'throttle' | 'loadPace' | 'onGivenUp'>,
  around: {
    readonly rings: Rings;
    readonly strangers: ReadonlySet<string>;
    readonly log: Logger;
    readonly requireDropsAllowed: MoverPorts['requireDropsAllowed'];
  },
): Mover {
  const { rings, strangers, log, requireDropsAllowed } = around;
  return new Mover({
    ...{ store, controls, onceComplete, held, ...calls },
    signReceipt: (receipt) => printReceipt({ ...receipt, born: identity.born, ms: nowMs() }, key),
    requireDropsAllowed,
    current: (keyspace) => rings.get(keyspace),
    isStranger: (active, device) => strangers.has(addressOf(active, device)),
    monotonicMs,
    brake: new DropBrake(join(directory, 'drops')),
    onRepair: ({ sentence, ...repair }) => log.info(repair, sentence),
    onError: (step, error) => log.warn({ ...step, error }, 'duty failed, will be tried again'),
  });
}

function createScrubber(store: Store, mover: Mover, log: Logger): Scrubber {
  return new Scrubber({
    ...{ store, monotonicMs, nowMs },
    onFindings: (keyspace, partition, findings) => {
      log.error({ keyspace, partition, findings }, 'partition file damaged');
      mover.review(keyspace);
    },
    onLogLost: (err) => log.error({ err }, 'commit log lost: it begins anew'),
    onError: (error) => log.warn({ err: error }, 'partition file not scrubbed'),
  });
}

function createReplicator(
  parts: {
    readonly store: Store;
    readonly devices: DeviceCaller;
    readonly decide: DecideKey;
    readonly mover: Mover;
  },
  metrics: Metrics,
  log: Logger,
): Replicator {
  return new Replicator({
    ...parts,
    nowMs,
    onBehind: (keyspace, partition) => {
      log.warn({ keyspace, partition }, 'file behind the floor of its peers: it refills');
      parts.store.setState(keyspace, partition, 'filling');
      parts.mover.review(keyspace);
    },
    onPushed: (rows) => metrics.replicatedRows.inc(rows),
    onError: (device, error) => log.debug({ device, error }, 'replication waits'),
  });
}
