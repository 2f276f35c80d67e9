// The parts of a server that deal with other servers: connections, greetings, and which peers are
// believed.

import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import { startMeetingMsMax, startMeetingsMax } from '@ringwright/base/limits-rings';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { ChannelOptions } from '@ringwright/node/link/socket-channel';
import { holdersOf } from '@ringwright/ring/slots-of';
import { isMessageKnown } from '@ringwright/wire/older-forms';
import { recordsWrite } from '@ringwright/wire/records';
import type { Logger } from 'pino';
import type { RingParts } from './assemble-rings.ts';
import { greet, greetAgain, greetPeers, type HelloPorts } from './hello-exchange.ts';
import type { OpenedDevice } from './open-device.ts';
import { KnownPeers } from './peers/known-peers.ts';
import { PeerReconnects } from './peers/peer-reconnects.ts';
import { Peers } from './peers/peers.ts';
import { ProvenPeers } from './peers/proven-peers.ts';
import { type ActiveRing, activeDuties, addressOf } from './rings/active-ring.ts';

type Own = OpenedDevice &
  RingParts &
  Pick<
    HelloPorts,
    'clock' | 'peerClocks' | 'guard' | 'unknownPeers' | 'refusingPeers' | 'isComplete' | 'nowMs'
  >;

interface Ports {
  readonly answers: ChannelOptions;
  readonly demandsTls: boolean;
  readonly log: Logger;
  /** The token that this server shows to the devices of its rings. */
  readonly token: string | null;
  /** Used for pauses, which a jump of the machine's clock must not stretch. */
  readonly monotonicMs: () => number;
  readonly onConnect: () => void;
  /** Called when partitions that counted as complete have become incomplete. */
  readonly onRefill: () => void;
}

export type PeerParts = ReturnType<typeof assemblePeers>;

export function assemblePeers(own: Own, ports: Ports) {
  const { identity, generation, rings, tls } = own;
  const { answers, demandsTls, log, token, monotonicMs, onConnect, onRefill } = ports;
  const greetAt = (address: string) => peers.connect(address).connect();
  const greetAnew = (address: string) => greetAgain(introduce, peers.connect(address));
  const reconnects = new PeerReconnects();
  const proven = new ProvenPeers(rings);
  const knownPeers = new KnownPeers(identity, {
    rings,
    connect: greetAt,
    greet: greetAnew,
  });
  const introduce: HelloPorts = {
    ...own,
    knownPeers,
    proven,
    wireVersions: new Map(),
    pause: (ms) => delay(ms, undefined, { ref: false }),
    mutex: new KeyedMutex(),
    onRefill: (remembered, partitions) => {
      log.error({ remembered, partitions }, 'data restored from a backup: it refills');
      onRefill();
    },
    // The peer may have just started, so requests need not wait for the next connection attempt.
    onPeerHello: (address) => {
      reconnects.noteCall(address);
      peers.connect(address).endPause();
    },
    onUnknownPeerHello: (address) =>
      log.info({ stranger: address }, 'hello ignored: no ring here names the server'),
    onRingRefused: (from, error) => log.warn({ from, error }, 'ring of a peer refused'),
  };
  const peers = new Peers({
    ...{ ...answers, monotonicMs },
    connectTimeoutMs: peerCallTimeoutMs,
    identity: tls,
    proofOf: (address) => proven.proofOf(address) ?? plain(address, demandsTls),
    onProven: (channel, key) => proven.note(channel, key),
    // Nobody else gets the token: a server with a token accepts only callers with the role peer.
    token: (address) => (knownPeers.mayGetToken(address) ? token : null),
    greet: (address, caller) => greet(introduce, address, caller),
    onConnect,
  });
  return {
    ...{ peers, knownPeers, proven, introduce, reconnects, greetAnew },
    /** Whether the server at this address accepts many writes in one message. */
    takesMany: (address: string) =>
      isMessageKnown(recordsWrite.method, introduce.wireVersions.get(address) ?? 0),
    /** Replaces connections according to the keys that a newly activated ring names. */
    followKeys: () => followKeys(peers, proven),
    /** Resolves when the clock of the server at this address is known. */
    awaitClock: (address: string): Promise<unknown> => {
      // The server may have been greeted before any ring named its address.
      const isClockKnown = own.peerClocks.aheadOf(address, 0) !== null;
      const peer = peers.connect(address);
      return isClockKnown || !peer.connected ? peer.connect() : knownPeers.ask(address);
    },
    /** Exchanges ring heads with every peer. */
    greetPeers: async () => {
      // If this fails, for example on a full disk, the present age stays in force for longer.
      await generation.advance().catch((error: unknown) => log.warn({ error }, 'age not written'));
      followKeys(peers, proven); // for connections that were being made when a ring was activated
      await greetPeers(introduce, peers);
    },
    /** Resolves when the peers that know this directory had a chance to say so. */
    meetHolders: () => meetHolders(addressesToMeet(rings.list()), greetAt),
    /** To be called when the server begins to listen, so that other servers can reach it. */
    awaitPeers: () => void reconnects.wait(addressesToMeet(rings.list().filter(isDevice)), greetAt),
  };
}

/**
 * Replaces each connection whose proven key no longer matches what the rings say about its address.
 * Calls under way may finish, except those to a server whose key no longer counts: that connection
 * ends at once.
 */
function followKeys(peers: Peers, proven: ProvenPeers): void {
  for (const peer of peers.list()) {
    const proof = proven.proofOf(peer.address);
    const isPlain = peer.key === null;
    const isKeyNamed = proof?.by === 'device' && proof.keys.has(peer.key ?? '');
    if (isPlain ? proof === null : isKeyNamed) continue;
    peer.renew(isPlain || proof === null ? peerCallTimeoutMs : 0);
  }
  proven.endRevoked();
}

/**
 * Before this server answers any request it connects to devices that hold what it holds, so that
 * they can say whether its directory is older than the one they remember. Resolves when each of
 * them was reached or has failed, and at the latest after startMeetingMsMax.
 */
async function meetHolders(
  addresses: readonly string[],
  connect: (address: string) => Promise<unknown>,
): Promise<void> {
  if (addresses.length === 0) return;
  const attempts = Promise.allSettled(addresses.map((address) => connect(address)));
  await Promise.race([attempts, delay(startMeetingMsMax)]);
}

/** Whether the ring names this server as a device. Only then do other servers call it. */
function isDevice({ self }: ActiveRing): boolean {
  return self !== null;
}

/** Addresses of devices that hold what this device holds, at most startMeetingsMax of them. */
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

/**
 * The other holders of the partitions served here. A device that serves none gets all other devices
 * of the ring: any of them can tell it about newer rings, tokens and clocks.
 */
function othersOf(active: ActiveRing): Iterable<number> {
  const { ring, self } = active;
  const { serve } = activeDuties(active);
  const isOther = (device: number): boolean => device !== self;
  if (serve.length === 0) return ring.devices.keys().filter(isOther);
  return serve.values().flatMap((partition) => holdersOf(ring, partition).filter(isOther));
}

/** Throws PEER_UNPROVEN if this server demands TLS. */
function plain(address: string, demandsTls: boolean): null {
  if (!demandsTls) return null;
  throw new CodedError('PEER_UNPROVEN', `no ring names the key of ${address}, required by --tls`, {
    hint: 'ring-builder set-device RING all --ask-key',
    details: { address },
  });
}
