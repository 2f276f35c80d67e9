// Whom this server believes: the devices that its rings name, reached by connections of its own.
// Who calls may say any address; only at that address is asked what to make of it.
import { setTimeout as delay } from 'node:timers/promises';
import {
  askBackMs,
  believedPeersMax,
  peerGreetMs,
  unknownPeersMax,
} from '@ringwright/base/limits-rings';
import { formatAddress, isWholeAddress } from '@ringwright/base/server-address';
import { SharedRuns } from '@ringwright/node/shared-runs';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import type { DeviceIdentity } from '../device/device-identity.ts';
import { addressesIn } from '../rings/ring-addresses.ts';

interface KnownPeersPorts {
  readonly rings: { list(): readonly { readonly ring: Ring }[] };
  /** A connection of this server's own, greeted. Rejects with PEER_UNREACHABLE. */
  readonly connect: (address: string) => Promise<Caller>;
  /** Says hello on such a connection, anew if it was greeted already. */
  readonly greet: (address: string) => Promise<void>;
  /** Instead of askBackMs; for tests. */
  readonly cooldown?: () => Promise<unknown>;
}

export class KnownPeers {
  /** Addresses that are being greeted, and how often at once. */
  readonly #greeting = new Map<string, number>();
  /** Addresses at whose word this directory refilled, in the order in which they said it. */
  readonly #believed = new Set<string>();
  readonly #self: string;
  readonly #ports: KnownPeersPorts;
  /**
   * Greetings by address. Hellos that come meanwhile share the one after it, and a cooldown follows
   * each: nobody can make this server call another one all the time.
   */
  readonly #greetings: SharedRuns;
  /** What callers said in their hellos, where that address is believed. */
  readonly #said = new WeakMap<Caller, string>();
  readonly #unknown = new Set<string>();
  /** Addresses that are asked again and again. */
  readonly #insisted = new Set<string>();

  constructor(identity: DeviceIdentity, ports: KnownPeersPorts) {
    this.#self = formatAddress(identity.address);
    this.#ports = ports;
    const cooldown = ports.cooldown ?? (() => delay(askBackMs, undefined, { ref: false }));
    this.#greetings = new SharedRuns(ports.greet, cooldown);
  }

  /** Notes whom a caller says to be. False: nothing that it says is looked at. */
  hear(caller: Caller, address: string): boolean {
    if (!this.#isBelieved(address)) return false;
    this.#said.set(caller, address);
    return true;
  }

  /** Whether an active ring names the address: only then it counts what is said there of itself. */
  isNamed(address: string): boolean {
    return this.#ports.rings.list().some(({ ring }) => addressesIn(ring).has(address));
  }

  /**
   * What the server at an address calls itself: of a replication address, the address for requests.
   */
  ownAddress(address: string): string {
    for (const { ring } of this.#ports.rings.list()) {
      const own = addressesIn(ring).get(address);
      if (own !== undefined) return own;
    }
    return address;
  }

  /** Whether a server without any ring was told by a caller that it is to be found there. */
  isHeard(address: string): boolean {
    return this.#unknown.has(address);
  }

  /** Whether this directory refilled at the word of the server there, in the life of this process. */
  hasBelieved(address: string): boolean {
    return this.#believed.has(address);
  }

  /** Notes that it did. Of too many the first is forgotten: it could make it refill once more. */
  believe(address: string): void {
    this.#believed.add(address);
    if (this.#believed.size <= believedPeersMax) return;
    for (const first of this.#believed.keys()) return void this.#believed.delete(first);
  }

  /** Whether the server there is being greeted: then it will be heard anyway. */
  isGreeting(address: string): boolean {
    return this.#greeting.has(address);
  }

  /**
   * Notes that the server there is being greeted as long as `work` runs. There are never more of
   * them than connections this server made; each ends within peerCallTimeoutMs if it is not heard.
   */
  async whileGreeting(address: string, work: () => Promise<void>): Promise<void> {
    this.#greeting.set(address, (this.#greeting.get(address) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = (this.#greeting.get(address) ?? 0) - 1;
      if (left > 0) this.#greeting.set(address, left);
      else this.#greeting.delete(address);
    }
  }

  /** Resolves when the server there was greeted after this call. Rejects with PEER_UNREACHABLE. */
  ask(address: string): Promise<void> {
    return this.#greetings.run(address);
  }

  /**
   * As `ask`, for what must be known although the server may still be starting: after a failure it
   * is asked again, until it says hello once more by itself.
   */
  insist(address: string): Promise<void> {
    const asked = this.ask(address);
    if (!this.#insisted.has(address)) {
      this.#insisted.add(address);
      void this.#askAgain(address, asked);
    }
    return asked;
  }

  async #askAgain(address: string, first: Promise<void>): Promise<void> {
    let asked = first;
    for (let tries = 1; tries < peerGreetMs / askBackMs; tries += 1) {
      const isGreeted = await asked.then(
        () => true,
        () => false,
      );
      if (isGreeted) break;
      asked = this.ask(address); // it cools down before
    }
    await asked.catch(() => undefined);
    this.#insisted.delete(address);
  }

  /**
   * A connection of this server's own to whom a caller says to be; null when no ring here names it.
   * Rejects with PEER_UNREACHABLE.
   */
  async callBack(caller: Caller): Promise<Caller | null> {
    const address = this.#said.get(caller);
    return address === undefined ? null : this.#ports.connect(address);
  }

  /**
   * A server without any ring knows nobody, and takes its first ring from whoever brings one, as it
   * takes a push: so a wiped device finds back into its cluster.
   */
  #isBelieved(address: string): boolean {
    if (address === this.#self) return false; // it does not call itself
    if (this.#ports.rings.list().length > 0) {
      this.#unknown.clear();
      return this.isNamed(address);
    }
    if (!isWholeAddress(address)) return false;
    if (this.#unknown.size < unknownPeersMax) this.#unknown.add(address);
    return this.#unknown.has(address);
  }
}
