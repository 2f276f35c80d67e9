// The servers of a keyspace and its ring; the client fetches a newer ring when an answer mentions
// it.

import { setTimeout as delay } from 'node:timers/promises';
import { must } from '@ringwright/base/assert';
import { hasCode } from '@ringwright/base/coded-error';
import { clientAvoidMs, clientHedgeMs } from '@ringwright/base/limits';
import { formatAddress } from '@ringwright/base/server-address';
import { Link } from '@ringwright/node/link/link';
import type { HintReader } from '@ringwright/node/link/not-reached';
import type { ServerProof, TlsIdentity } from '@ringwright/node/link/prove-server';
import { monotonicMs } from '@ringwright/node/system-clock';
import { distance, type FailureDomain } from '@ringwright/ring/failure-domain';
import { decodeRing } from '@ringwright/ring/file/ring-file';
import { partitionerOf } from '@ringwright/ring/partitioner/partition-of-key';
import type { Partitioner } from '@ringwright/ring/partitioner/partitioner';
import type { Ring } from '@ringwright/ring/ring';
import { slotsOf } from '@ringwright/ring/slots-of';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { CallChannel } from '@ringwright/wire/call-channel';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import { greetServer } from '@ringwright/wire/greet-server';
import { clientClosed } from './client-closed.ts';
import { readFailure } from './failure-kind.ts';
import { hedgedRequest } from './hedged-request.ts';
import { serverChoice } from './server-choice.ts';

interface FollowerSettings {
  readonly keyspace: string;
  readonly timeoutMs: number;
  readonly token: string | null;
  /** Shown to servers that prove their identity. */
  readonly identity: TlsIdentity | null;
  /** What servers must prove whose keys no ring names; null: nothing, and no TLS. */
  readonly proof: ServerProof | null;
  readonly reader: HintReader;
  /** Location of the client; null: all servers are equally near. */
  readonly near: FailureDomain | null;
}

export interface OpenedServer {
  readonly address: string;
  readonly channel: CallChannel;
}

/** A client answers no calls: servers call only other servers. */
const NO_HANDLERS = new Map<string, never>();

export class RingFollower {
  readonly #settings: FollowerSettings;
  /** Servers passed to connect(): asked last, and never dropped. */
  readonly #seeds: readonly string[];
  readonly #links = new Map<string, Link>();
  readonly #retired = new Set<Link>();
  /** Servers that kept a caller waiting: the time until which others are asked first. */
  readonly #avoidUntilMs = new Map<string, number>();
  #ring: KnownRing | null = null;
  #fetching = false;
  #isClosed = false;

  constructor(seeds: readonly string[], settings: FollowerSettings) {
    this.#seeds = seeds;
    this.#settings = settings;
  }

  get ring(): KnownRing {
    return must(this.#ring, 'connect() learns the ring before anybody asks for it');
  }

  /** Servers to send a request about a partition to, best first. */
  choose(partition: number): string[] {
    const { ring } = this;
    return serverChoice({
      groups: [ring.holdersOf(partition), ring.addresses, this.#seeds],
      isWell: (address) => this.#isWell(address),
    });
  }

  /**
   * Returns an open channel to a server. Rejects before anything has been sent; with CLIENT_CLOSED
   * after close(), when nobody would close a new connection any more.
   */
  open(address: string): Promise<CallChannel> {
    if (this.#isClosed) return Promise.reject(clientClosed());
    const link = this.#links.get(address) ?? this.#linkTo(address);
    return link.connect();
  }

  /**
   * Opens a channel to the first of these servers that can be reached. The next one is tried when
   * one fails or is slow: a machine that vanished refuses nothing. Forgets addresses that fail.
   * Rejects when none is left.
   */
  async openFirst(addresses: Set<string>): Promise<OpenedServer> {
    const [nearest = ''] = addresses;
    // Nearly every write: no timer and no other server for a connection that is there.
    if (this.#links.get(nearest)?.connected)
      return { address: nearest, channel: await this.open(nearest) };
    return hedgedRequest({
      addresses: [...addresses],
      ask: async (address) => {
        try {
          return { address, channel: await this.open(address) };
        } catch (error) {
          addresses.delete(address);
          this.avoid(address);
          throw error;
        }
      },
      hedgeMs: clientHedgeMs,
      onSlow: (address) => this.avoid(address),
      mayHelp: () => !this.#isClosed,
    });
  }

  /**
   * Makes a call that changes nothing to the servers for a partition, best first, until one
   * answers. Throws what hedgedRequest throws.
   */
  async ask<Answer extends { readonly ringVersion: number }>(
    { partition, hedgeMs }: { readonly partition: number; readonly hedgeMs: number },
    call: (channel: CallChannel, timeoutMs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const request = {
      addresses: this.choose(partition),
      ask: async (address: string) => {
        const channel = await this.open(address);
        const answer = await call(channel, this.#settings.timeoutMs);
        this.noteRingVersion(answer.ringVersion, channel);
        return answer;
      },
      hedgeMs,
      onSlow: (address: string) => this.avoid(address),
      mayHelp: (error: unknown) => !this.#isClosed && readFailure(error) === 'elsewhere',
    };
    try {
      return await hedgedRequest(request);
    } catch (error) {
      // All connections may break at once, as when the network changes. New ones are tried, after
      // the pause that each link makes then.
      if (this.#isClosed || !hasCode(error, 'PEER_UNREACHABLE')) throw error;
      await delay(clientHedgeMs);
      return hedgedRequest(request);
    }
  }

  /** Called about a server that kept a caller waiting. */
  avoid(address: string): void {
    this.#avoidUntilMs.set(address, monotonicMs() + clientAvoidMs);
  }

  /** Fetches the ring from a server. Throws the server's or the connection's errors. */
  async learn(channel: CallChannel): Promise<void> {
    const { keyspace, near } = this.#settings;
    const ring = knownRing(await fetchRing(channel, keyspace), near);
    if (ring.version <= (this.#ring?.version ?? 0)) return;
    this.#ring = ring;
    const currentAddresses = new Set([...ring.addresses, ...this.#seeds]);
    for (const [address, link] of this.#links) {
      const keys = ring.keysAt(address);
      // The server proved what connect() was given, or nothing; from now on it must prove the
      // ring's key.
      if (keys !== undefined && !keys.has(link.key ?? '')) link.renew(this.#settings.timeoutMs);
      if (currentAddresses.has(address)) continue;
      this.#links.delete(address);
      this.#avoidUntilMs.delete(address);
      this.#retire(link);
    }
  }

  /** Called for each answer with the server's ring version: fetches the ring if it is newer. */
  noteRingVersion(version: number, channel: CallChannel): void {
    if (version <= this.ring.version || this.#fetching) return;
    this.#fetching = true;
    this.learn(channel)
      // The old ring still works, since any server coordinates. The next answer tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#fetching = false;
      });
  }

  close(): void {
    this.#isClosed = true;
    for (const link of [...this.#links.values(), ...this.#retired]) link.close();
  }

  #linkTo(address: string): Link {
    const { timeoutMs, token, identity, reader } = this.#settings;
    const link = new Link(address, {
      handlers: NO_HANDLERS,
      monotonicMs,
      connectTimeoutMs: timeoutMs,
      token: () => token,
      identity,
      reader,
      proofOf: () => this.#proofOf(address),
      greet: (_, caller) => greetServer(caller, { address, timeoutMs }),
    });
    this.#links.set(address, link);
    return link;
  }

  /** Keys that the ring names take precedence over the proof passed to connect(). */
  #proofOf(address: string): ServerProof | null {
    const keys = this.#ring?.keysAt(address);
    return keys === undefined ? this.#settings.proof : { by: 'device', keys };
  }

  /** False if the server was slow or unreachable a moment ago. */
  #isWell(address: string): boolean {
    const isAway = (this.#links.get(address)?.pausedMs ?? 0) > 0;
    return !isAway && monotonicMs() >= (this.#avoidUntilMs.get(address) ?? 0);
  }

  /** Keeps the link for a while: answers may still arrive from a server that has left the ring. */
  #retire(link: Link): void {
    this.#retired.add(link);
    const timer = setTimeout(() => {
      this.#retired.delete(link);
      link.close();
    }, this.#settings.timeoutMs);
    timer.unref();
  }
}

/** The parts of a ring that a client needs: which servers hold a key. */
interface KnownRing {
  readonly version: number;
  readonly partitions: number;
  readonly partitioner: Partitioner;
  readonly reshape?: Ring['reshape'];
  readonly partitionOf: (key: Uint8Array) => number;
  /** Addresses of the devices that serve a partition's reads: near ones first, in replica order. */
  readonly holdersOf: (partition: number) => string[];
  /** Addresses of all devices, near ones first. */
  readonly addresses: readonly string[];
  /** Ids of the keys that the server at an address must prove; undefined: it has none. */
  readonly keysAt: (address: string) => ReadonlySet<string> | undefined;
}

/**
 * Decodes a ring file without verifying its signatures: a wrong ring makes a client ask the wrong
 * server, which still coordinates the request by its own ring.
 */
function knownRing(file: Uint8Array, near: FailureDomain | null): KnownRing {
  const { ring } = decodeRing(file);
  const addresses = ring.devices.map((device) => (device === null ? null : formatAddress(device)));
  const keys = new Map<string, Set<string>>();
  for (const device of ring.devices) {
    if (device?.key === undefined) continue;
    const address = formatAddress(device);
    keys.set(address, (keys.get(address) ?? new Set<string>()).add(keyIdOf(device.key)));
  }
  const far = ring.devices.map((device) =>
    near === null || device === null ? 0 : distance(near, device),
  );
  const nearFirst = (ids: number[]): string[] =>
    ids.sort((a, b) => (far[a] ?? 0) - (far[b] ?? 0)).flatMap((id) => addresses[id] ?? []);
  return {
    version: ring.version,
    partitions: ring.partitions,
    partitioner: ring.partitioner,
    reshape: ring.reshape,
    partitionOf: partitionerOf(ring.partitioner),
    holdersOf: (partition) => nearFirst(slotsOf(ring, partition).map(({ device }) => device)),
    addresses: [...new Set(nearFirst([...ring.devices.keys()]))],
    keysAt: (address) => keys.get(address),
  };
}
