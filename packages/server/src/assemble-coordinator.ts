// The parts of a server that answer requests for any key: its clocks, stamps, the coordinator, and
// this device's writes to itself.

import { setTimeout as delay } from 'node:timers/promises';
import { HybridClock } from '@ringwright/base/hybrid-clock';
import { roundPauseMsMax } from '@ringwright/base/limits';
import { longWritesBytesMax } from '@ringwright/base/limits-listeners';
import { andThen, type Callback, type MaybePromise } from '@ringwright/base/maybe-promise';
import type { Stamp } from '@ringwright/base/stamp';
import { KeyedMutex } from '@ringwright/node/keyed-mutex';
import { monotonicMs, nowMs } from '@ringwright/node/system-clock';
import { affordableBytes } from './access/byte-budget.ts';
import type { PeerParts } from './assemble-peers.ts';
import { PeerClocks } from './clocks/peer-clocks.ts';
import { proveClock } from './clocks/prove-clock.ts';
import { StampIssuer } from './clocks/stamp-issuer.ts';
import { LongWrites } from './coordinate/long-writes.ts';
import type { CoordinatorPorts } from './coordinate/with-newest-ring.ts';
import type { AdaptiveThrottle } from './copies/adaptive-throttle.ts';
import type { OpenedDevice } from './open-device.ts';
import { type OwnWrite, ownCaller, type WriteAnswer } from './peers/device-caller.ts';
import { answerWriteFor, type ReplicaPorts } from './replica/replica.ts';
import { type ActiveRing, addressOf } from './rings/active-ring.ts';
import type { RingExchange } from './rings/ring-exchange.ts';
import type { RingRequests } from './rings/ring-requests.ts';

type ClockParts = ReturnType<typeof createClocks>;

export function createClocks({ store, clockFile }: OpenedDevice) {
  const peerClocks = new PeerClocks(monotonicMs);
  const clock = new HybridClock(
    nowMs,
    () => peerClocks.agreedMs(nowMs()),
    () => peerClocks.behindMs(nowMs()),
  );
  // One millisecond above the highest stored stamp: a stamp of the last millisecond before the
  // restart must not be issued twice. With a saved clock.json, every stamp issued here lies below
  // `savedMs` too, so learn() may ignore a stored stamp that comes from another device.
  const highest = { ms: store.highestMs() + 1, tie: 0 };
  if (clockFile.savedMs === 0) clock.observe(highest);
  else clock.learn(highest);
  return { clock, peerClocks, stamps: new StampIssuer({ clock, ...clockFile }) };
}

export function createCoordinator({
  rings,
  requests,
  devices,
  clocks: { clock, peerClocks, stamps },
  exchange,
  peers,
  awaitClock,
}: Pick<CoordinatorPorts, 'rings' | 'requests' | 'devices'> &
  Pick<PeerParts, 'peers' | 'awaitClock'> & {
    readonly clocks: ClockParts;
    readonly exchange: RingExchange;
  }): CoordinatorPorts {
  const proof = { clocks: peerClocks, nowMs, greet: awaitClock };
  const issueStamp = (active: ActiveRing, key: Uint8Array): MaybePromise<Stamp> =>
    andThen(proveClock(proof, active, active.partitionOf(key)), () => {
      peerClocks.check(nowMs());
      return stamps.issue(active.tieDevice, () => issueStamp(active, key));
    });
  return {
    ...{ rings, requests, devices, clock, issueStamp },
    longWrites: new LongWrites(affordableBytes(longWritesBytesMax)),
    mutex: new KeyedMutex(),
    backOff: (tries) => delay(Math.random() * Math.min(2 ** tries, roundPauseMsMax)),
    catchUp: async (active, device) => {
      const peer = await peers.connect(addressOf(active, device)).connect();
      return exchange.catchUp(active.ring.keyspace, peer);
    },
  };
}

/** This device's writes to itself: counted and timed as those of others, without a promise. */
export function ownWrites(
  replica: ReplicaPorts,
  requests: RingRequests,
  throttle: AdaptiveThrottle,
): OwnWrite {
  return (request, onAnswer) => {
    const endTimed = throttle.begin();
    requests.begin('answered', request);
    const end: Callback<WriteAnswer> = (answer, error) => {
      requests.end('answered', request);
      endTimed();
      onAnswer(answer, error);
    };
    try {
      answerWriteFor(replica, { request, caller: ownCaller }, end);
    } catch (error) {
      end(null, error);
    }
  };
}
