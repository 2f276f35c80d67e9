// The hello of a connection, on both of its ends: who is there, which rings each has, whose clock
// says what.
import type { HybridClock } from '@ringwright/base/hybrid-clock';
import { clockAheadMsMax, peerCallTimeoutMs } from '@ringwright/base/limits';
import type { Caller } from '@ringwright/wire/call-channel';
import { checkWireVersion } from '@ringwright/wire/check-wire-version';
import { hello } from '@ringwright/wire/hello';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { wireVersion } from '@ringwright/wire/wire-version';
import { ringHead } from './active-ring.ts';
import type { DeviceIdentity } from './device-identity.ts';
import { joinAddress } from './options.ts';
import type { PeerClocks } from './peer-clocks.ts';
import type { PeerMemory } from './peer-memory.ts';
import type { Peers } from './peers.ts';
import { type RefillPorts, refillIfRestored } from './refill-all.ts';
import type { RingExchange } from './ring-exchange.ts';
import type { Rings } from './rings.ts';

export interface IntroducePorts extends RefillPorts {
  readonly identity: DeviceIdentity;
  readonly rings: Rings;
  readonly exchange: RingExchange;
  readonly memory: PeerMemory;
  readonly clock: HybridClock;
  readonly peerClocks: PeerClocks;
  readonly nowMs: () => number;
  readonly settled: () => boolean;
  /** Addresses whose servers remember another data directory here. */
  readonly strangers: Set<string>;
  readonly onRingRefused: (from: string, error: unknown) => void;
}

/** Answers a hello; fetches the rings of which the other end has higher versions soon after. */
export async function answerHello(
  ports: IntroducePorts,
  request: RequestOf<typeof hello>,
  caller: Caller,
): Promise<AnswerOf<typeof hello>> {
  checkWireVersion(request.wireVersion);
  const { address } = request;
  await refillIfRestored(ports, request.remembered);
  const answer = introduction(ports, address);
  remember(ports, request);
  learnClock(ports, request.ms);
  setImmediate(() => {
    ports.exchange
      .catchUpAll(request.rings, caller, address)
      .catch((error: unknown) => ports.onRingRefused(address, error));
  });
  return answer;
}

/**
 * Introduces this server on a connection it made, and catches up with the other end's rings before
 * it is used.
 */
export async function greet(ports: IntroducePorts, address: string, peer: Caller): Promise<void> {
  const answer = await peer.call(hello, introduction(ports, address), peerCallTimeoutMs);
  checkWireVersion(answer.wireVersion);
  // Before anything else is asked of the peer: what is here may be older than it should be.
  await refillIfRestored(ports, answer.remembered);
  ports.peerClocks.learn(address, answer.ms);
  learnClock(ports, answer.ms);
  if (answer.remembered !== null && answer.remembered.born !== ports.life.current.born) {
    ports.strangers.add(address);
  } else ports.strangers.delete(address);
  remember(ports, { ...answer, address });
  await ports.exchange
    .catchUpAll(answer.rings, peer, address)
    .catch((error: unknown) => ports.onRingRefused(address, error));
}

/**
 * Tells every server that was ever called which rings are here; one that was away is connected to
 * anew, which greets it. Whatever one of them answers, the others are greeted too.
 */
export async function greetPeers(ports: IntroducePorts, peers: Peers): Promise<void> {
  const greetings = peers.list().map(async (peer) => {
    if (peer.connected) await greet(ports, peer.address, peer);
    else await peer.connect();
  });
  await Promise.allSettled(greetings);
}

/** Anybody may say any address: only those of devices are kept without a limit. */
function remember(
  { memory, rings }: IntroducePorts,
  { address, life, settled }: Pick<RequestOf<typeof hello>, 'address' | 'life' | 'settled'>,
): void {
  if (life === null || !/^[^/?#@ ]+:\d{1,5}$/.test(address)) return;
  const isDevice = (): boolean =>
    rings
      .list()
      .some(({ ring }) =>
        ring.devices.some((device) => device !== null && joinAddress(device) === address),
      );
  const mayLearn = !memory.isFull || memory.recall(address) !== null || isDevice();
  if (mayLearn) memory.learn(address, life, settled);
}

/** What the one at an address is told; empty for a tool. */
function introduction(ports: IntroducePorts, to: string): RequestOf<typeof hello> {
  return {
    wireVersion,
    address: joinAddress(ports.identity.address),
    life: ports.life.current,
    settled: ports.settled(),
    ms: ports.nowMs(),
    rings: ports.rings.list().map((active) => {
      return { ...ringHead(active), signers: ports.rings.signers(active) };
    }),
    remembered: ports.memory.recall(to),
  };
}

/** A peer's clock moves this one forward, unless it is wrong by more than any write may be. */
function learnClock({ clock }: IntroducePorts, ms: number): void {
  const stamp = { ms, tie: 0 };
  if (clock.aheadMs(stamp) <= clockAheadMsMax) clock.observe(stamp);
}
