// The hello of a connection, on both ends: which server it is, which rings it has, and what its
// clock shows.

import { anyToken, role } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, peerCallTimeoutMs } from '@ringwright/base/limits';
import type { Link } from '@ringwright/node/link/link';
import type { Caller } from '@ringwright/wire/call-channel';
import { commonWireVersion, helloInCommonVersion } from '@ringwright/wire/check-wire-version';
import { clientHello } from '@ringwright/wire/greet-server';
import { type Generation, hello } from '@ringwright/wire/hello';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { credentialFrom } from './access/credential.ts';
import type { Guard } from './access/guard.ts';
import type { PeerClocks } from './clocks/peer-clocks.ts';
import type { DeviceIdentity } from './device/device-identity.ts';
import type { KnownPeers } from './peers/known-peers.ts';
import type { PeerMemory } from './peers/peer-memory.ts';
import type { Peers } from './peers/peers.ts';
import type { ProvenPeers } from './peers/proven-peers.ts';
import { type RefillPorts, refillIfRestored } from './repair/refill-all.ts';
import { ownAddress, ringHead } from './rings/active-ring.ts';
import type { RingExchange } from './rings/ring-exchange.ts';
import type { RingRelay } from './rings/ring-relay.ts';
import type { Rings } from './rings/rings.ts';
import type { AccessStore } from './trust/access-store.ts';
import type { TrustExchange } from './trust/trust-exchange.ts';

export interface HelloPorts extends RefillPorts {
  readonly guard: Guard;
  readonly trustExchange: Pick<TrustExchange, 'align'>;
  readonly access: Pick<AccessStore, 'head'>;
  readonly identity: DeviceIdentity;
  readonly rings: Rings;
  readonly exchange: RingExchange;
  readonly relay: Pick<RingRelay, 'send'>;
  readonly memory: PeerMemory;
  /** The wire version agreed on with each server at the last greeting, by address. */
  readonly wireVersions: Map<string, number>;
  readonly clock: HybridClock;
  readonly peerClocks: PeerClocks;
  readonly nowMs: () => number;
  readonly isComplete: () => boolean;
  /** Addresses of servers that remember another data directory at this device's address. */
  readonly unknownPeers: Set<string>;
  /** Addresses whose server accepts no messages of this one, because it lacks the role peer. */
  readonly refusingPeers: Set<string>;
  readonly knownPeers: KnownPeers;
  readonly proven: Pick<ProvenPeers, 'speaksFor'>;
  /** Resolves after this many ms by a clock that never jumps. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** Called after a hello of a believed server: the server is running. */
  readonly onPeerHello: (address: string) => void;
  /** Called after a hello in the name of a server that is not believed. A tool names no server. */
  readonly onUnknownPeerHello: (address: string) => void;
  readonly onRingRefused: (from: string, error: unknown) => void;
}

/**
 * Answers a hello. A caller may claim anything, so a hello is only a reason to greet the server it
 * names, if a ring names that server too, and to believe the answer to that greeting. Throws
 * WIRE_VERSION_UNKNOWN. Throws PEER_UNREACHABLE if the hello says that this directory was restored
 * from a backup, and the server it names cannot be reached to confirm that.
 */
export async function answerHello(
  ports: HelloPorts,
  request: RequestOf<typeof hello>,
  caller: Caller,
): Promise<AnswerOf<typeof hello>> {
  const version = commonWireVersion(request.wireVersion);
  const { knownPeers, guard } = ports;
  if (!guard.allows(caller, anyToken)) return bareHello(ports, version);
  // A caller without the role peer is treated as a tool, whatever it claims to be.
  if (!guard.allows(caller, role('peer'))) return toolHello(ports, caller, version);
  const { address, remembered } = request;
  if (ports.proven.speaksFor(caller, address) && knownPeers.noteClaimedAddress(caller, address)) {
    ports.onPeerHello(address);
    if (isNewRestoreReport(ports, address, remembered)) {
      // If that server is being greeted already, its answer arrives anyway. Waiting here too
      // would make each end wait for the other.
      if (!knownPeers.isGreeting(address)) await knownPeers.greetWithRetries(address);
    } else if (hasNews(ports, request)) {
      knownPeers.ask(address).catch(() => undefined); // the next greeting follows soon anyway
    }
  } else if (address !== '') {
    ports.onUnknownPeerHello(address);
  }
  const own = ownHello(ports, address, version);
  // Under a ring that is not here yet, this directory may have to hold more.
  return { ...own, settled: own.settled && !ports.exchange.lacks(request.rings) };
}

/**
 * Greets a server on a connection made from here, and fetches the rings that this server lacks
 * before the connection is used. Sends the rings that the other end lacks in the meantime.
 */
export function greet(ports: HelloPorts, dialled: string, peer: Caller): Promise<void> {
  const address = ports.knownPeers.ownAddress(dialled);
  // Requests that arrive on this connection come from a device of a ring.
  const isPeer = (): boolean => ports.knownPeers.isNamed(address);
  ports.guard.show(peer, { ...credentialFrom(address, null), isPeer });
  return ports.knownPeers.whileGreeting(address, async () => {
    const answer = await helloInCommonVersion((version) =>
      peer.call(hello, ownHello(ports, address, version), peerCallTimeoutMs),
    );
    if (dialled !== address) requireOwn(answer.address, { address, dialled });
    ports.wireVersions.set(address, commonWireVersion(answer.wireVersion));
    // Only a caller without permission gets a bare hello, see bareHello.
    if (answer.life === null) ports.refusingPeers.add(dialled);
    else ports.refusingPeers.delete(dialled);
    const peerHello = { ...answer, address };
    const isNamed = ports.knownPeers.isNamed(address);
    if (isNamed) await ports.trustExchange.align(answer.access, peer);
    if (isNamed) await learnFromHello(ports, peerHello);
    const refusals = await ports.exchange.catchUpAll(answer.rings, peer, address);
    for (const error of refusals) ports.onRingRefused(address, error);
    // The rings just fetched may be the first ones here, and may name this peer.
    if (!isNamed && ports.knownPeers.isNamed(address)) await learnFromHello(ports, peerHello);
    void ports.relay.send(address, peer, answer.rings); // not awaited: it pauses before sending
  });
}

/**
 * Without a key, this server believes the answer at a replication address as that of the device. So
 * it must be the server of that device. Throws PEER_UNPROVEN.
 */
function requireOwn(
  claimed: string,
  { address, dialled }: { readonly address: string; readonly dialled: string },
): void {
  if (claimed === address) return;
  const wanted = `${dialled} is the replication address of ${address} in the ring`;
  throw new CodedError('PEER_UNPROVEN', `${wanted}, but the server there says it is ${claimed}`, {
    hint: 'ring-builder set-device RING dN --replication-address IP:PORT|none',
    details: { address, dialled, said: claimed },
  });
}

/** Learns what a greeted server says about itself and about this directory. */
async function learnFromHello(ports: HelloPorts, answer: AnswerOf<typeof hello>): Promise<void> {
  const { address, life, settled, remembered, ms } = answer;
  // At once: a refill below may take minutes, and the clock reading would then be out of date.
  ports.peerClocks.learn(address, ms);
  learnClock(ports, ms);
  // Before anything else is asked of the peer, because the files here may be older than they should
  // be.
  if (isNewRestoreReport(ports, address, remembered)) {
    await refillIfRestored(ports, remembered);
    ports.knownPeers.noteRestoreReport(address);
  } else if (isPast(remembered, ports.generation.current)) {
    // It can learn of this directory only from this process, so never of a later state than this.
    ports.knownPeers.noteRestoreReport(address);
  }
  if (remembered !== null && remembered.born !== ports.generation.current.born) {
    ports.unknownPeers.add(address);
  } else ports.unknownPeers.delete(address);
  if (life !== null) ports.memory.learn(address, life, settled);
}

function isPast(remembered: Generation | null, { born, age }: Generation): boolean {
  return remembered?.born === born && remembered.age <= age;
}

/**
 * Whether to believe a server that remembers a later state of this directory, which was then
 * restored from a backup. Each server is believed once per process: after the first greeting it
 * knows the present age, whether it reported a later one or not.
 */
function isNewRestoreReport(
  { generation, knownPeers }: HelloPorts,
  address: string,
  remembered: Generation | null,
): remembered is Generation {
  return (
    remembered !== null &&
    !knownPeers.hasReportedRestore(address) &&
    generation.isOlderThan(remembered)
  );
}

/** Whether greeting the sender of this hello would teach this server anything new. */
function hasNews(
  { memory, exchange }: HelloPorts,
  { address, life, settled, rings }: RequestOf<typeof hello>,
): boolean {
  const isOther = life !== null && memory.isNews(address, life, settled);
  return isOther || exchange.lacks(rings);
}

/**
 * Greets the server that a hello named, on the existing connection or a new one. Somebody else may
 * have spoken in its name, so a server that could not be reached a moment ago is not called before
 * the pause after that failure is over.
 */
export async function greetAgain(ports: HelloPorts, peer: Link): Promise<void> {
  const { pausedMs } = peer;
  if (pausedMs > 0) {
    await ports.pause(Math.ceil(pausedMs));
    await peer.connect();
  } else await greetPeer(ports, peer);
}

async function greetPeer(ports: HelloPorts, peer: Link): Promise<void> {
  if (peer.connected) await greet(ports, peer.address, await peer.connect());
  else await peer.connect();
}

/**
 * Greets every server that was ever called, to exchange ring heads. If a server was unreachable,
 * this reconnects to it, and connecting includes a greeting. A failure at one server does not
 * affect the others. Servers that have left all rings are forgotten, with their clocks. When all
 * servers are connected and this device is complete under their rings, the directory no longer
 * counts as restored from a backup.
 */
export async function greetPeers(ports: HelloPorts, peers: Peers): Promise<void> {
  const isNamed = (address: string): boolean => ports.knownPeers.isNamed(address);
  ports.peerClocks.keep(isNamed);
  // A server without any ring has unnamed peers only, and may get its first ring from one of them.
  if (ports.rings.list().length > 0) {
    peers.keep(isNamed);
    for (const noted of [ports.wireVersions, ports.refusingPeers]) {
      for (const address of noted.keys()) if (!isNamed(address)) noted.delete(address);
    }
  }
  await Promise.allSettled(peers.list().map((peer) => greetPeer(ports, peer)));
  const { generation, isComplete } = ports;
  const all = peers.list();
  const areAllConnected = all.length > 0 && all.every(({ connected }) => connected);
  if (generation.isRestored && areAllConnected && isComplete()) await generation.clearRestored();
}

/** Returns what this server says about itself to the server at an address, or to a tool (`''`). */
function ownHello(ports: HelloPorts, to: string, version: number): RequestOf<typeof hello> {
  return {
    wireVersion: version,
    address: ownAddress(ports.rings.list(), ports.identity),
    life: ports.generation.current,
    settled: ports.isComplete(),
    ms: ports.nowMs(),
    rings: ports.rings.list().map((active) => {
      return { ...ringHead(active), signers: ports.rings.signers(active) };
    }),
    remembered: ports.memory.recall(to),
    access: ports.access.head,
  };
}

/** A caller without the role peer learns of the rings whose records it may read or write. */
function toolHello(ports: HelloPorts, caller: Caller, version: number): RequestOf<typeof hello> {
  const own = ownHello(ports, '', version);
  const rings = own.rings.filter(({ keyspace }) => {
    return ports.guard.allows(caller, { kind: 'ring', keyspace });
  });
  return { ...own, rings };
}

/** For a caller without a valid token: it learns that a server is here, and nothing else. */
function bareHello(ports: HelloPorts, version: number): RequestOf<typeof hello> {
  const address = ownAddress(ports.rings.list(), ports.identity);
  return { ...clientHello(ports.nowMs()), address, wireVersion: version };
}

/**
 * Moves the clock here forward to that of a peer, unless the peer's is further ahead than any write
 * may be.
 */
function learnClock({ clock }: HelloPorts, ms: number): void {
  const stamp = { ms, tie: 0 };
  if (clock.aheadMs(stamp) <= clockAheadMsMax) clock.observe(stamp);
}
