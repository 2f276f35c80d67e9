// The hello of a connection, on both of its ends: who is there, which rings each has, and what its
// clock says.

import { anyToken, role } from '@ringwright/access/need';
import { CodedError } from '@ringwright/base/coded-error';
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, peerCallTimeoutMs } from '@ringwright/base/limits';
import { formatAddress } from '@ringwright/base/server-address';
import type { Link } from '@ringwright/node/link/link';
import type { Caller } from '@ringwright/wire/call-channel';
import { commonWireVersion, helloInCommonVersion } from '@ringwright/wire/check-wire-version';
import { type Generation, hello } from '@ringwright/wire/hello';
import { clientHello } from '@ringwright/wire/meet-server';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { wireVersion } from '@ringwright/wire/wire-version';
import { credentialFrom } from './access/credential.ts';
import type { Guard } from './access/guard.ts';
import type { PeerClocks } from './clocks/peer-clocks.ts';
import type { DeviceIdentity } from './device/device-identity.ts';
import type { KnownPeers } from './peers/known-peers.ts';
import type { PeerMemory } from './peers/peer-memory.ts';
import type { Peers } from './peers/peers.ts';
import type { ProvenPeers } from './peers/proven-peers.ts';
import { type RefillPorts, refillIfRestored } from './repair/refill-all.ts';
import { ringHead } from './rings/active-ring.ts';
import type { RingExchange } from './rings/ring-exchange.ts';
import type { RingRelay } from './rings/ring-relay.ts';
import type { Rings } from './rings/rings.ts';
import type { AccessStore } from './trust/access-store.ts';
import type { TrustExchange } from './trust/trust-exchange.ts';

export interface IntroducePorts extends RefillPorts {
  readonly guard: Guard;
  readonly trustExchange: Pick<TrustExchange, 'align'>;
  readonly access: Pick<AccessStore, 'head'>;
  readonly identity: DeviceIdentity;
  readonly rings: Rings;
  readonly exchange: RingExchange;
  readonly relay: Pick<RingRelay, 'send'>;
  readonly memory: PeerMemory;
  /** What is spoken with each server, by address, since it was last greeted. */
  readonly wireVersions: Map<string, number>;
  readonly clock: HybridClock;
  readonly peerClocks: PeerClocks;
  readonly nowMs: () => number;
  readonly isComplete: () => boolean;
  /** Addresses whose servers remember another data directory here. */
  readonly unknownPeers: Set<string>;
  readonly knownPeers: KnownPeers;
  readonly proven: Pick<ProvenPeers, 'speaksFor'>;
  /** Resolves after so many ms by a clock that never steps. */
  readonly pause: (ms: number) => Promise<unknown>;
  /** A hello from a server that is believed: it runs. */
  readonly onHeard: (address: string) => void;
  /** A hello in the name of a server that is not believed; a tool names none. */
  readonly onUnheard: (address: string) => void;
  readonly onRingRefused: (from: string, error: unknown) => void;
}

/**
 * Answers a hello. Whoever calls may say anything: a hello is only a reason to greet the server it
 * names, if a ring names it too, and to believe what is said there. Throws WIRE_VERSION_UNKNOWN,
 * and PEER_UNREACHABLE when it says that this directory was put back and cannot be asked about it.
 */
export async function answerHello(
  ports: IntroducePorts,
  request: RequestOf<typeof hello>,
  caller: Caller,
): Promise<AnswerOf<typeof hello>> {
  const version = commonWireVersion(request.wireVersion);
  return { ...(await heardHello(ports, request, caller)), wireVersion: version };
}

async function heardHello(
  ports: IntroducePorts,
  request: RequestOf<typeof hello>,
  caller: Caller,
): Promise<AnswerOf<typeof hello>> {
  const { knownPeers, guard } = ports;
  if (!guard.allows(caller, anyToken)) return bareIntroduction(ports);
  // Whoever is no peer is taken for a tool, whatever it says to be.
  if (!guard.allows(caller, role('peer'))) return introduction(ports, '');
  const { address, remembered } = request;
  if (ports.proven.speaksFor(caller, address) && knownPeers.hear(caller, address)) {
    ports.onHeard(address);
    if (wasPutBack(ports, address, remembered)) {
      // While it is being greeted it will be heard anyway, and each end would wait for the other.
      if (!knownPeers.isGreeting(address)) await knownPeers.insist(address);
    } else if (hasNews(ports, request)) {
      knownPeers.ask(address).catch(() => undefined); // one greets the other again soon
    }
  } else if (address !== '') {
    ports.onUnheard(address);
  }
  return introduction(ports, address);
}

/**
 * Introduces this server on a connection it made, and catches up with the other end's rings before
 * it is used. What the other end lacks is sent to it meanwhile.
 */
export function greet(ports: IntroducePorts, dialled: string, peer: Caller): Promise<void> {
  const address = ports.knownPeers.ownAddress(dialled);
  // What is called from there, on this connection, is called by a member of a ring.
  const isPeer = (): boolean => ports.knownPeers.isNamed(address);
  ports.guard.show(peer, { ...credentialFrom(address, null), isPeer });
  return ports.knownPeers.whileGreeting(address, async () => {
    const answer = await helloInCommonVersion((version) => {
      const own = { ...introduction(ports, address), wireVersion: version };
      return peer.call(hello, own, peerCallTimeoutMs);
    });
    if (dialled !== address) requireOwn(answer.address, { address, dialled });
    ports.wireVersions.set(address, commonWireVersion(answer.wireVersion));
    const said = { ...answer, address };
    const isNamed = ports.knownPeers.isNamed(address);
    if (isNamed) await ports.trustExchange.align(answer.access, peer);
    if (isNamed) await takeIn(ports, said);
    const refusals = await ports.exchange.catchUpAll(answer.rings, peer, address);
    for (const error of refusals) ports.onRingRefused(address, error);
    // The rings that it gave may be the first ones here.
    if (!isNamed && ports.knownPeers.isNamed(address)) await takeIn(ports, said);
    void ports.relay.send(address, peer, answer.rings); // it may take long, and cools down first
  });
}

/**
 * What a server without a key answers at a replication address is believed of its device, so that
 * it must be that server. Throws PEER_UNPROVEN.
 */
function requireOwn(
  said: string,
  { address, dialled }: { readonly address: string; readonly dialled: string },
): void {
  if (said === address) return;
  const wanted = `${dialled} is the replication address of ${address} in the ring`;
  throw new CodedError('PEER_UNPROVEN', `${wanted}, and the server there says it is ${said}`, {
    hint: 'ring-builder set-device RING dN --replication-address IP:PORT|none',
    details: { address, dialled, said },
  });
}

/** What the server at an address says of itself and of this one. */
async function takeIn(ports: IntroducePorts, said: AnswerOf<typeof hello>): Promise<void> {
  const { address, life, settled, remembered, ms } = said;
  // At once, since a refill may take minutes, and the clock of that moment is an old one then.
  ports.peerClocks.learn(address, ms);
  learnClock(ports, ms);
  // Before anything else is asked of the peer: what is here may be older than it should be.
  if (wasPutBack(ports, address, remembered)) {
    await refillIfRestored(ports, remembered);
    ports.knownPeers.believe(address);
  }
  if (remembered !== null && remembered.born !== ports.generation.current.born) {
    ports.unknownPeers.add(address);
  } else ports.unknownPeers.delete(address);
  if (life !== null) ports.memory.learn(address, life, settled);
}

/**
 * Whether a server may know that this directory was put back from a backup. One that said so, and
 * was believed, has heard of the new age since: it has nothing more to say in this life.
 */
function wasPutBack(
  { generation, knownPeers }: IntroducePorts,
  address: string,
  remembered: Generation | null,
): remembered is Generation {
  return remembered !== null && !knownPeers.hasBelieved(address) && generation.isBefore(remembered);
}

/** Whether to greet a server that says this of itself would change anything here. */
function hasNews(
  { memory, exchange }: IntroducePorts,
  { address, life, settled, rings }: RequestOf<typeof hello>,
): boolean {
  const isOther = life !== null && memory.isNews(address, life, settled);
  return isOther || exchange.lacks(rings);
}

/**
 * Greets a server that has just been heard of, on the connection that there is or a new one. It may
 * have been somebody else who spoke in its name: one that could not be reached a moment ago is not
 * called before its pause is over.
 */
export async function greetAgain(ports: IntroducePorts, peer: Link): Promise<void> {
  const { pausedMs } = peer;
  if (pausedMs > 0) {
    await ports.pause(Math.ceil(pausedMs));
    await peer.connect();
  } else await greetPeer(ports, peer);
}

async function greetPeer(ports: IntroducePorts, peer: Link): Promise<void> {
  if (peer.connected) await greet(ports, peer.address, await peer.connect());
  else await peer.connect();
}

/**
 * Tells every server that was ever called which rings are here; one that was away is connected to
 * anew, which greets it. Whatever one of them answers, the others are greeted too. Those that have
 * left all rings are forgotten, with what their clocks showed. When all are there, and this device
 * is complete under their rings, it counts as put back from a backup no longer.
 */
export async function greetPeers(ports: IntroducePorts, peers: Peers): Promise<void> {
  const isNamed = (address: string): boolean => ports.knownPeers.isNamed(address);
  ports.peerClocks.keep(isNamed);
  // A server without any ring has only such peers: its first ring may come from one of them.
  if (ports.rings.list().length > 0) {
    peers.keep(isNamed);
    for (const address of ports.wireVersions.keys()) {
      if (!isNamed(address)) ports.wireVersions.delete(address);
    }
  }
  await Promise.allSettled(peers.list().map((peer) => greetPeer(ports, peer)));
  const { generation, isComplete } = ports;
  const all = peers.list();
  const isHeard = all.length > 0 && all.every(({ connected }) => connected);
  if (generation.wasPutBack && isHeard && isComplete()) await generation.settle();
}

/** What the one at an address is told; empty for a tool. */
function introduction(ports: IntroducePorts, to: string): RequestOf<typeof hello> {
  return {
    wireVersion,
    address: formatAddress(ports.identity.address),
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

/** For whoever shows no good token: that a server is here, and nothing else. */
function bareIntroduction(ports: IntroducePorts): RequestOf<typeof hello> {
  const address = formatAddress(ports.identity.address);
  return { ...clientHello(ports.nowMs()), address };
}

/** A peer's clock moves this one forward, unless it is wrong by more than any write may be. */
function learnClock({ clock }: IntroducePorts, ms: number): void {
  const stamp = { ms, tie: 0 };
  if (clock.aheadMs(stamp) <= clockAheadMsMax) clock.observe(stamp);
}
