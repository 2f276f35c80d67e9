// Whom this server believes: the devices that its rings name, reached by connections of its own.
// Who calls may say any address; only at that address is asked what to make of it.
import { setTimeout as delay } from 'node:timers/promises';
import { askBackMs, unknownPeersMax } from '@ringwright/base/limits-rings';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import { AskBack } from './ask-back.ts';
import type { DeviceIdentity } from './device-identity.ts';
import { joinAddress } from './options.ts';
import { addressesIn } from './ring-addresses.ts';

interface KnownPeersPorts {
  readonly rings: { list(): readonly { readonly ring: Ring }[] };
  /** A connection of this server's own, greeted. Rejects with PEER_UNREACHABLE. */
  readonly connect: (address: string) => Promise<Caller>;
  /** Says hello on such a connection, anew if it was greeted already. */
  readonly greet: (address: string) => Promise<void>;
}

export class KnownPeers {
  /** Addresses that are being greeted. */
  readonly greeting = new Set<string>();
  /** Addresses at whose word this directory refilled: once each in the life of this process. */
  readonly believed = new Set<string>();
  readonly #self: string;
  readonly #ports: KnownPeersPorts;
  readonly #askBack: AskBack;
  /** What callers said in their hellos, where that address is believed. */
  readonly #said = new WeakMap<Caller, string>();
  readonly #unknown = new Set<string>();

  constructor(identity: DeviceIdentity, ports: KnownPeersPorts) {
    this.#self = joinAddress(identity.address);
    this.#ports = ports;
    const rest = (): Promise<void> => delay(askBackMs, undefined, { ref: false });
    this.#askBack = new AskBack({ greet: ports.greet, rest });
  }

  /** Notes whom a caller says to be. False: nothing that it says is looked at. */
  hear(caller: Caller, address: string): boolean {
    if (!this.#isBelieved(address)) return false;
    this.#said.set(caller, address);
    return true;
  }

  /** Resolves when the server there was greeted after this call. Rejects with PEER_UNREACHABLE. */
  ask(address: string): Promise<void> {
    return this.#askBack.ask(address);
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
    const active = this.#ports.rings.list();
    if (active.length > 0) return active.some(({ ring }) => addressesIn(ring).has(address));
    if (!/^[^/?#@ ]+:\d{1,5}$/.test(address)) return false;
    if (this.#unknown.size < unknownPeersMax) this.#unknown.add(address);
    return this.#unknown.has(address);
  }
}
