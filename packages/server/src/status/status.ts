// What a server reports about itself: GET /v1/status.
import type { KeyObject } from 'node:crypto';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { trustWarnDays } from '@ringwright/base/limits';
import { programVersion } from '@ringwright/base/program-version';
import type { PartitionInfo } from '@ringwright/partition/file/partition-info';
import type { Store } from '@ringwright/partition/store';
import { spkiOf } from '@ringwright/ring/trust/public-key';
import { wireVersion } from '@ringwright/wire/wire-version';
import type { PeerClocks } from '../clocks/peer-clocks.ts';
import type { StampIssuer } from '../clocks/stamp-issuer.ts';
import type { AdaptiveThrottle, AdaptiveThrottleStatus } from '../copies/adaptive-throttle.ts';
import type { DeviceGeneration } from '../device/device-generation.ts';
import type { DeviceIdentity } from '../device/device-identity.ts';
import type { LoadProgress } from '../moves/load-notes.ts';
import type { MoveControls } from '../moves/move-controls.ts';
import { isSurplus } from '../moves/plan-duties.ts';
import type { HeldDrops, Reconciler } from '../moves/reconciler.ts';
import { usableInfo } from '../peers/holdings.ts';
import type { Peers } from '../peers/peers.ts';
import type { LogLoss, Scrubber } from '../repair/scrubber.ts';
import { type ActiveRing, activeDuties, ownAddress } from '../rings/active-ring.ts';
import type { RingFork, RingForks } from '../rings/ring-forks.ts';
import type { RingRefusal } from '../rings/ring-refusals.ts';
import type { RingRequests, VersionRequests } from '../rings/ring-requests.ts';
import type { Rings } from '../rings/rings.ts';
import { type Freshness, freshnessOf } from '../trust/freshness.ts';
import type { TrustStore } from '../trust/trust-store.ts';

/** A root that is in force, and when it expires. */
interface TrustStatus {
  readonly cluster: string;
  readonly version: number;
  readonly epoch: number;
  readonly id: string;
  readonly expires: string;
  /** True from `trustWarnDays` before it expires. */
  readonly expiresSoon: boolean;
}

/** The first certificate of the bundle that is shown now. */
export interface ShownCertificate {
  /** Host names and IP addresses by which clients may call the server. */
  readonly names: string;
  /** ISO times between which it is valid. */
  readonly starts: string;
  readonly ends: string;
}

interface PeerStatus {
  readonly address: string;
  readonly connected: boolean;
  /** It accepts no messages of this server: neither the ring's keys nor a token permit them. */
  readonly refuses: boolean;
}

export interface StatusPorts {
  readonly identity: DeviceIdentity;
  readonly rings: Rings;
  readonly forks: RingForks;
  readonly requests: RingRequests;
  readonly store: Store;
  readonly reconciler: Reconciler;
  readonly controls: MoveControls;
  readonly peers: Peers;
  /** Addresses of peers that accept no messages of this server. */
  readonly refusingPeers: ReadonlySet<string>;
  readonly trust: TrustStore;
  readonly throttle: AdaptiveThrottle;
  readonly scrubber: Pick<Scrubber, 'logLoss'>;
  readonly generation: Pick<DeviceGeneration, 'isRestored'>;
  /** The private key of the device. */
  readonly key: KeyObject;
  readonly demandsTls: boolean;
  readonly certificate: () => ShownCertificate | null;
  readonly insecure: boolean;
  readonly clocks: {
    readonly clock: Pick<HybridClock, 'stampsAheadMs'>;
    readonly peerClocks: Pick<PeerClocks, 'awayMs'>;
    readonly stamps: Pick<StampIssuer, 'unsaved'>;
  };
  readonly uptimeMs: () => number;
  readonly nowMs: () => number;
}

export interface RingStatus {
  readonly ring: string;
  readonly version: number;
  readonly id: string;
  readonly sinceMs: number;
  /** The highest version on disk; nothing below it is accepted. Null: none was ever stored. */
  readonly disk: { readonly version: number; readonly id: string } | null;
  /** Requests under way, by the version they were made with. */
  readonly requests: readonly VersionRequests[];
  /** This device's id in the ring; null when the ring does not name it. */
  readonly device: number | null;
  readonly serving: number;
  /** Partitions that the table gives this device and that cannot answer reads yet. */
  readonly notReady: number;
  /** Files that cannot be used, with the reason: they refill, or wait for `trash RING confirm`. */
  readonly damaged: readonly { readonly partition: number; readonly reason: string }[];
  /** Steps of duties that fail and are retried: open, accept, serve, drain and others. */
  readonly failing: ReturnType<Reconciler['failing']>;
  readonly loads: readonly LoadProgress[];
  /** Assignment ids that an operator has paused or put first, among the moves to this device. */
  readonly paused: readonly number[];
  readonly first: readonly number[];
  /** Number of partitions here that the ring gives to other devices. */
  readonly surplus: number;
  /** Partitions being drained, with what each waits for. */
  readonly draining: readonly { readonly partition: number; readonly reason: string }[];
  /** Drops and quarantines that wait for an operator: `ring-builder trash RING confirm`. */
  readonly held: HeldDrops;
  readonly rows: number;
  readonly bytes: number;
  /** Epoch of a signed ring; null: unsigned. */
  readonly epoch: number | null;
  /** The author's reason for letting a large change pass with too few signatures. */
  readonly override: string | null;
  readonly freshness: Freshness;
  /** The last fork that was seen; an alarm as long as `settled` is null. */
  readonly fork: RingFork | null;
}

export interface ServerStatus {
  /** The running release. */
  readonly version: string;
  /** Version of the wire format: servers of one version understand each other. */
  readonly wireVersion: number;
  readonly address: string;
  readonly device: string | null;
  /** Public key of the device, as a ring names it: SPKI bytes in base64. */
  readonly key: string;
  /** Connections without TLS are refused. */
  readonly demandsTls: boolean;
  /** The certificate of --tls FILE, with the time at which it expires; null: none was given. */
  readonly certificate: ShownCertificate | null;
  /** The server listens to other machines without TLS, trust or access: --insecure-listen. */
  readonly insecure: boolean;
  readonly uptimeMs: number;
  readonly nowMs: number;
  /**
   * How far `nowMs` is ahead of most servers' clocks, as far as they are known; negative: behind.
   */
  readonly clockAwayMs: number;
  /** How far existing stamps are ahead of its clock. Over a minute, the server takes no writes. */
  readonly stampsAheadMs: number;
  readonly ready: boolean;
  readonly rings: readonly RingStatus[];
  readonly refusals: readonly RingRefusal[];
  /**
   * The loss of the commit log since this process started, after which it started over; null: none.
   */
  readonly logLoss: LogLoss | null;
  /**
   * The directory was restored from a backup; true until it is complete and all peers are
   * connected.
   */
  readonly putBack: boolean;
  /** How fast partition files may be given and taken here. */
  readonly copyPace: AdaptiveThrottleStatus;
  /** Null when unsigned rings are accepted. */
  readonly trust: readonly TrustStatus[] | null;
  readonly peers: readonly PeerStatus[];
}

/** `infos`: all partitions that are here. */
export function serverStatus(ports: StatusPorts, infos = ports.store.list()): ServerStatus {
  const infosByRing = Map.groupBy(infos, ({ keyspace }) => keyspace);
  const damagedByRing = Map.groupBy(ports.store.damaged(), ({ keyspace }) => keyspace);
  const rings = ports.rings.list().map((active) => {
    const { keyspace } = active.ring;
    const here = infosByRing.get(keyspace) ?? [];
    return ringStatus(ports, active, { infos: here, damaged: damagedByRing.get(keyspace) ?? [] });
  });
  return {
    version: programVersion,
    wireVersion,
    address: ownAddress(ports.rings.list(), ports.identity),
    device: ports.identity.name,
    key: spkiOf(ports.key),
    demandsTls: ports.demandsTls,
    certificate: ports.certificate(),
    insecure: ports.insecure,
    uptimeMs: ports.uptimeMs(),
    nowMs: ports.nowMs(),
    clockAwayMs: ports.clocks.peerClocks.awayMs(ports.nowMs()),
    stampsAheadMs: ports.clocks.clock.stampsAheadMs(),
    ready: rings.every(({ notReady }) => notReady === 0),
    rings,
    refusals: ports.rings.refusals(),
    logLoss: ports.scrubber.logLoss,
    putBack: ports.generation.isRestored,
    copyPace: ports.throttle.status(),
    trust: trustStatus(ports),
    peers: ports.peers.list().map(({ address, connected }) => {
      return { address, connected, refuses: connected && ports.refusingPeers.has(address) };
    }),
  };
}

/** Whether every partition that the rings give this device can be read here. */
export function isAllReady({ rings, store }: Pick<StatusPorts, 'rings' | 'store'>): boolean {
  return rings.list().every((active) => notReadyHere(store, active) === 0);
}

/** Counts the partitions that the ring gives this device and that cannot be read here yet. */
export function notReadyHere(store: Pick<Store, 'info'>, active: ActiveRing): number {
  const { keyspace } = active.ring;
  const isReady = (partition: number): boolean =>
    usableInfo(store, keyspace, partition)?.state === 'ready';
  return activeDuties(active).serve.reduce((count, one) => count + (isReady(one) ? 0 : 1), 0);
}

/** Returns the bytes of the values in each partition of a ring here, as [partition, bytes]. */
export function partitionSizes(
  { store }: StatusPorts,
  ring: string,
): [partition: number, bytes: number][] {
  return store.list(ring).map(({ partition, bytes }) => [partition, bytes]);
}

interface PartitionsHere {
  readonly infos: readonly PartitionInfo[];
  readonly damaged: ReturnType<Store['damaged']>;
}

/** The partitions are those of this ring. */
function ringStatus(
  ports: StatusPorts,
  active: ActiveRing,
  { infos, damaged }: PartitionsHere,
): RingStatus {
  const { id, signing } = active;
  const { keyspace, version } = active.ring;
  const epoch = signing?.epoch ?? null;
  const disk = ports.rings.highestOnDisk(keyspace);
  const notReady = notReadyHere(ports.store, active);
  const draining = ports.reconciler.draining(keyspace);
  const surplus = infos
    .map(({ partition }) => partition)
    .filter((partition) => isSurplus(active, partition));
  return {
    ring: keyspace,
    version,
    id,
    sinceMs: active.activatedMs,
    disk: disk === undefined ? null : { version: disk.version, id: disk.id },
    requests: ports.requests.list(keyspace),
    device: active.self,
    serving: activeDuties(active).serve.length - notReady,
    notReady,
    damaged: damaged.map(({ partition, error }) => ({ partition, reason: error.message })),
    failing: ports.reconciler.failing(keyspace),
    loads: ports.reconciler.progress(keyspace),
    ...controlsOf(ports, active),
    surplus: surplus.length,
    draining: surplus.map((partition) => ({
      partition,
      reason: draining.get(partition) ?? 'waits for its turn',
    })),
    held: ports.reconciler.held(keyspace),
    rows: infos.reduce((sum, info) => sum + info.rows, 0),
    bytes: infos.reduce((sum, info) => sum + info.bytes, 0),
    epoch,
    override: active.signing?.override ?? null,
    freshness: freshnessOf(ports.trust.beaconOf(keyspace), { epoch, version, id }, ports.nowMs()),
    fork: ports.forks.find(keyspace) ?? null,
  };
}

function controlsOf(
  { controls }: StatusPorts,
  { ring, self }: ActiveRing,
): Pick<RingStatus, 'paused' | 'first'> {
  const joins = ring.moves.filter(({ to }) => to === self);
  const inFlight = new Set(joins.map(({ assignment }) => assignment));
  const { paused, first } = controls.of(ring.keyspace);
  const current = (ids: readonly number[]): number[] => ids.filter((id) => inFlight.has(id));
  return { paused: current(paused), first: current(first) };
}
export function trustStatus({
  trust,
  nowMs,
}: Pick<StatusPorts, 'trust' | 'nowMs'>): readonly TrustStatus[] | null {
  if (!trust.demands) return null;
  const warnMs = nowMs() + trustWarnDays * 24 * 3_600_000;
  return trust.trusts().map(({ id, root }) => {
    const { cluster, version, epoch, expires } = root;
    return { cluster, version, epoch, id, expires, expiresSoon: Date.parse(expires) <= warnMs };
  });
}
