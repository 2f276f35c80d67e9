// The parts of a server that have to do with others: connections, greetings, whom it believes.
import { setTimeout as delay } from 'node:timers/promises';
import { peerCallTimeoutMs } from '@ringwright/base/limits';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import type { Answers } from '@ringwright/node/link/socket-channel';
import type { Logger } from 'pino';
import { greet, greetAgain, greetPeers, type IntroducePorts } from './introduce.ts';
import { KnownPeers } from './peers/known-peers.ts';
import { meetHolders } from './peers/meet-holders.ts';
import { Peers } from './peers/peers.ts';

type Own = Omit<
  IntroducePorts,
  'knownPeers' | 'pause' | 'mutex' | 'onRefill' | 'onUnheard' | 'onRingRefused'
>;

interface Around {
  readonly answers: Answers;
  readonly log: Logger;
  /** For pauses, which a step of the machine's clock must not stretch. */
  readonly monotonicMs: () => number;
  readonly onConnect: () => void;
  /** Partitions count as incomplete that did not before. */
  readonly onRefill: () => void;
}

export interface PeerParts {
  readonly peers: Peers;
  readonly knownPeers: KnownPeers;
  readonly introduce: IntroducePorts;
  /** Resolves when what the server there says of its clock is known. */
  readonly hearClock: (address: string) => Promise<unknown>;
  /** Tells every peer which rings are here, and hears which are there. */
  readonly greetPeers: () => Promise<void>;
  /** Resolves when those that know this directory could say so. */
  readonly meetHolders: () => Promise<void>;
}

export function assemblePeers(own: Own, around: Around): PeerParts {
  const { identity, generation, rings } = own;
  const { answers, log, monotonicMs, onConnect, onRefill } = around;
  const meet = (address: string) => peers.connect(address).connect();
  const knownPeers = new KnownPeers(identity, {
    rings,
    connect: meet,
    greet: (address) => greetAgain(introduce, peers.connect(address)),
  });
  const introduce: IntroducePorts = {
    ...own,
    knownPeers,
    pause: (ms) => delay(ms, undefined, { ref: false }),
    mutex: new KeyedMutex(),
    onRefill: (remembered, partitions) => {
      log.error({ remembered, partitions }, 'data put back from a backup: it refills');
      onRefill();
    },
    onUnheard: (address) =>
      log.info({ stranger: address }, 'hello not heard: no ring here names its server'),
    onRingRefused: (from, error) => log.warn({ from, error }, 'ring of a peer refused'),
  };
  const peers = new Peers({
    ...answers,
    monotonicMs,
    connectTimeoutMs: peerCallTimeoutMs,
    greet: (address, caller) => greet(introduce, address, caller),
    onConnect,
  });
  return {
    peers,
    knownPeers,
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
      await greetPeers(introduce, peers);
    },
    meetHolders: () => meetHolders({ rings, meet, pause: delay }),
  };
}
