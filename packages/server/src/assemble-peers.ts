// The parts of a server that have to do with others: connections, greetings, whom it believes.
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import { startMeetingMsMax, startMeetingsMax } from '@ringwright/base/limits-rings';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { TlsIdentity } from '@ringwright/node/link/prove-server';
import type { Answers } from '@ringwright/node/link/socket-channel';
import { holdersOf } from '@ringwright/ring/slots-of';
import { isSpoken } from '@ringwright/wire/older-forms';
import { recordsWrite } from '@ringwright/wire/records';
import type { Logger } from 'pino';
import { greet, greetAgain, greetPeers, type IntroducePorts } from './introduce.ts';
import { KnownPeers } from './peers/known-peers.ts';
import { Peers } from './peers/peers.ts';
import { PeersBack } from './peers/peers-back.ts';
import { ProvenPeers } from './peers/proven-peers.ts';
import { activeDuties } from './rings/active-duties.ts';
import { type ActiveRing, addressOf } from './rings/active-ring.ts';

type Own = Omit<
  IntroducePorts,
  | 'knownPeers'
  | 'proven'
  | 'wireVersions'
  | 'pause'
  | 'mutex'
  | 'onRefill'
  | 'onHeard'
  | 'onUnheard'
  | 'onRingRefused'
> & {
  /** Shown to servers whose key a ring names. */
  readonly tls: TlsIdentity;
};

interface Ports {
  readonly answers: Answers;
  readonly demandsTls: boolean;
  readonly log: Logger;
  /** Shown to members of rings. */
  readonly token: string | null;
  /** For pauses, which a step of the machine's clock must not stretch. */
  readonly monotonicMs: () => number;
  readonly onConnect: () => void;
  /** Partitions count as incomplete that did not before. */
  readonly onRefill: () => void;
}

export interface PeerParts {
  readonly peers: Peers;
  readonly knownPeers: KnownPeers;
  readonly proven: ProvenPeers;
  /** Whether the server there takes many writes in one message. */
  readonly takesMany: (address: string) => boolean;
  /** To be called when a ring was activated: connections follow the keys that it names. */
  readonly followKeys: () => void;
  readonly introduce: IntroducePorts;
  /** Resolves when what the server there says of its clock is known. */
  readonly hearClock: (address: string) => Promise<unknown>;
  /** Tells every peer which rings are here, and hears which are there. */
  readonly greetPeers: () => Promise<void>;
  /** Resolves when those that know this directory could say so. */
  readonly meetHolders: () => Promise<void>;
  readonly peersBack: Pick<PeersBack, 'isAwaited'>;
  /** To be called when the server begins to listen: then others can call it. */
  readonly awaitPeers: () => void;
}

export function assemblePeers(own: Own, ports: Ports): PeerParts {
  const { identity, generation, rings, tls } = own;
  const { answers, demandsTls, log, token, monotonicMs, onConnect, onRefill } = ports;
  const meet = (address: string) => peers.connect(address).connect();
  const peersBack = new PeersBack();
  const proven = new ProvenPeers({
    list: () => rings.list(),
    find: (keyspace) => rings.find(keyspace),
  });
  const knownPeers = new KnownPeers(identity, {
    rings,
    connect: meet,
    greet: (address) => greetAgain(introduce, peers.connect(address)),
  });
  const introduce: IntroducePorts = {
    ...own,
    knownPeers,
    proven,
    wireVersions: new Map(),
    pause: (ms) => delay(ms, undefined, { ref: false }),
    mutex: new KeyedMutex(),
    onRefill: (remembered, partitions) => {
      log.error({ remembered, partitions }, 'data put back from a backup: it refills');
      onRefill();
    },
    // It has just started, perhaps: requests that come now need not wait for the next attempt.
    onHeard: (address) => {
      peersBack.hear(address);
      peers.connect(address).endPause();
    },
    onUnheard: (address) =>
      log.info({ stranger: address }, 'hello not heard: no ring here names its server'),
    onRingRefused: (from, error) => log.warn({ from, error }, 'ring of a peer refused'),
  };
  const peers = new Peers({
    ...answers,
    monotonicMs,
    connectTimeoutMs: peerCallTimeoutMs,
    identity: tls,
    proofOf: (address) => proven.proofOf(address) ?? plain(address, demandsTls),
    onProven: (channel, key) => proven.note(channel, key),
    // To nobody else. Whoever shows a token hears only those who showed one with the role peer.
    token: (address) => (knownPeers.isNamed(address) || knownPeers.isHeard(address) ? token : null),
    greet: (address, caller) => greet(introduce, address, caller),
    onConnect,
  });
  return {
    peers,
    knownPeers,
    proven,
    takesMany: (address) => isSpoken(recordsWrite.method, introduce.wireVersions.get(address) ?? 0),
    followKeys: () => followKeys(peers, proven),
    introduce,
    hearClock: (address) => {
      // It may have been greeted before any ring named it.
      const isHeard = own.peerClocks.aheadOf(address, 0) !== null;
      const peer = peers.connect(address);
      return isHeard || !peer.connected ? peer.connect() : knownPeers.ask(address);
    },
    greetPeers: async () => {
      // The disk may be full: then this age only lasts longer.
      await generation.advance().catch((error: unknown) => log.warn({ error }, 'age not written'));
      followKeys(peers, proven); // what was connecting when a ring was activated
      await greetPeers(introduce, peers);
    },
    meetHolders: () => meetHolders(addressesToMeet(rings.list()), meet),
    peersBack,
    awaitPeers: () => void peersBack.wait(addressesToMeet(rings.list().filter(isDevice)), meet),
  };
}

/**
 * Connections to servers whose keys the rings name by now, or do not name any more, are made anew.
 * Calls under way may end, but for those to a server that has lost its place.
 */
function followKeys(peers: Peers, proven: ProvenPeers): void {
  for (const peer of peers.list()) {
    const proof = proven.proofOf(peer.address);
    const isPlain = peer.key === null;
    const isWanted = proof?.by === 'device' && proof.keys.has(peer.key ?? '');
    if (isPlain ? proof === null : isWanted) continue;
    peer.renew(isPlain || proof === null ? peerCallTimeoutMs : 0);
  }
  proven.endRevoked();
}

/**
 * Before a server answers anybody it meets devices that hold what it holds, so that they can say
 * whether its directory is older than they remember. Resolves when each of them was met or cannot
 * be, or when one takes too long.
 */
async function meetHolders(
  addresses: readonly string[],
  meet: (address: string) => Promise<unknown>,
): Promise<void> {
  if (addresses.length === 0) return;
  const met = Promise.allSettled(addresses.map((address) => meet(address)));
  await Promise.race([met, delay(startMeetingMsMax)]);
}

/** Whether this server is a device of the ring: others call it then, and else they do not. */
function isDevice({ self }: ActiveRing): boolean {
  return self !== null;
}

/** Holders of what is held here, up to so many. */
function addressesToMeet(rings: readonly ActiveRing[]): string[] {
  const addresses = new Set<string>();
  for (const active of rings) {
    for (const device of othersOf(active)) {
      if (addresses.size >= startMeetingsMax) break;
      addresses.add(addressOf(active, device));
    }
  }
  addresses.delete('');
  return [...addresses];
}

/** Where nothing is held here, any device: it tells of newer rings, tokens and clocks. */
function othersOf(active: ActiveRing): Iterable<number> {
  const { ring, self } = active;
  const { serve } = activeDuties(active);
  const isOther = (device: number): boolean => device !== self;
  if (serve.length === 0) return ring.devices.keys().filter(isOther);
  return serve.values().flatMap((partition) => holdersOf(ring, partition).filter(isOther));
}

/** Throws PEER_UNPROVEN where nothing is said without TLS. */
function plain(address: string, demandsTls: boolean): null {
  if (!demandsTls) return null;
  throw new CodedError('PEER_UNPROVEN', `no ring names the key of ${address}, and --tls is given`, {
    hint: 'ring-builder set-device RING all --ask-key',
    details: { address },
  });
}
