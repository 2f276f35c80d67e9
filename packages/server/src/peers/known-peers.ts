// Whom this server believes: the devices that its rings name, reached on connections that it makes
// itself. A caller may claim any address, so this server asks at that address before it acts on the
// claim.
import { setTimeout as delay } from 'node:timers/promises';
import {
  askBackMs,
  believedPeersMax,
  peerGreetMs,
  unknownPeersMax,
} from '@ringwright/base/limits-rings';
import { comparableAddress, isWholeAddress, parseAddress } from '@ringwright/base/server-address';
import { SharedRuns } from '@ringwright/node/shared-runs';
import type { Ring } from '@ringwright/ring/ring';
import type { Caller } from '@ringwright/wire/call-channel';
import type { DeviceIdentity } from '../device/device-identity.ts';
import { addressesIn } from '../rings/active-ring.ts';

interface KnownPeersPorts {
  readonly rings: { list(): readonly { readonly ring: Ring }[] };
  /** Makes a connection from this server, and greets on it. Rejects with PEER_UNREACHABLE. */
  readonly connect: (address: string) => Promise<Caller>;
  /** Sends a hello on such a connection, again if it was greeted already. */
  readonly greet: (address: string) => Promise<void>;
  /** Replaces the pause of askBackMs; for tests. */
  readonly cooldown?: () => Promise<unknown>;
}

export class KnownPeers {
  /** Addresses that are being greeted, with the number of concurrent greetings. */
  readonly #greetingCounts = new Map<string, number>();
  /** Addresses on whose word this directory has refilled, oldest first. */
  readonly #restoreReporters = new Set<string>();
  readonly #self: string;
  readonly #ports: KnownPeersPorts;
  /**
   * Greetings by address. Hellos that arrive during a greeting share the next one, and a pause
   * follows each, so nobody can make this server call another one all the time.
   */
  readonly #greetings: SharedRuns;
  /** The address that each caller claimed in its hello, if that address is believed. */
  readonly #claimedAddresses = new WeakMap<Caller, string>();
  readonly #unknownAddresses = new Set<string>();
  /** Addresses that are asked repeatedly. */
  readonly #retriedAddresses = new Set<string>();

  constructor(identity: DeviceIdentity, ports: KnownPeersPorts) {
    this.#self = comparableAddress(identity.address);
    this.#ports = ports;
    const cooldown = ports.cooldown ?? (() => delay(askBackMs, undefined, { ref: false }));
    this.#greetings = new SharedRuns(ports.greet, cooldown);
  }

  /**
   * Notes the address that a caller claims. Returns false if nothing that the caller says counts.
   */
  noteClaimedAddress(caller: Caller, address: string): boolean {
    if (!this.#isKnownPeer(address)) return false;
    this.#claimedAddresses.set(caller, address);
    return true;
  }

  /** Whether an active ring names the address: only then does what is said there count. */
  isNamed(address: string): boolean {
    return this.#ports.rings.list().some(({ ring }) => addressesIn(ring).has(address));
  }

  /**
   * Returns the own address of the server at this address: for a replication address, the address
   * for requests.
   */
  ownAddress(address: string): string {
    for (const { ring } of this.#ports.rings.list()) {
      const own = addressesIn(ring).get(address);
      if (own !== undefined) return own;
    }
    return address;
  }

  /** Whether a ring names the address, or a caller claimed it while the server had no ring. */
  mayGetToken(address: string): boolean {
    return this.isNamed(address) || this.#unknownAddresses.has(address);
  }

  /** Whether this directory has refilled on the word of this server, since this process started. */
  hasReportedRestore(address: string): boolean {
    return this.#restoreReporters.has(address);
  }

  /**
   * Notes such a refill. Beyond a limit the oldest address is forgotten: it could then cause one
   * more refill.
   */
  noteRestoreReport(address: string): void {
    this.#restoreReporters.add(address);
    if (this.#restoreReporters.size <= believedPeersMax) return;
    for (const first of this.#restoreReporters.keys())
      return void this.#restoreReporters.delete(first);
  }

  /** Whether the server at this address is being greeted, so that its answer arrives anyway. */
  isGreeting(address: string): boolean {
    return this.#greetingCounts.has(address);
  }

  /**
   * Counts the server at this address as being greeted while `work` runs. There are never more of
   * these than connections that this server made. Each ends within peerCallTimeoutMs if there is no
   * answer.
   */
  async whileGreeting(address: string, work: () => Promise<void>): Promise<void> {
    this.#greetingCounts.set(address, (this.#greetingCounts.get(address) ?? 0) + 1);
    try {
      await work();
    } finally {
      const left = (this.#greetingCounts.get(address) ?? 0) - 1;
      if (left > 0) this.#greetingCounts.set(address, left);
      else this.#greetingCounts.delete(address);
    }
  }

  /** Resolves when the server was greeted after this call. Rejects with PEER_UNREACHABLE. */
  ask(address: string): Promise<void> {
    return this.#greetings.run(address);
  }

  /**
   * Like `ask`, for what must be known although the server may still be starting: asks again after
   * failures, until the server's next own hello is due.
   */
  greetWithRetries(address: string): Promise<void> {
    const greeting = this.ask(address);
    if (!this.#retriedAddresses.has(address)) {
      this.#retriedAddresses.add(address);
      void this.#askAgain(address, greeting);
    }
    return greeting;
  }

  async #askAgain(address: string, first: Promise<void>): Promise<void> {
    let greeting = first;
    for (let tries = 1; tries < peerGreetMs / askBackMs; tries += 1) {
      const isGreeted = await greeting.then(
        () => true,
        () => false,
      );
      if (isGreeted) break;
      greeting = this.ask(address); // after a pause
    }
    await greeting.catch(() => undefined);
    this.#retriedAddresses.delete(address);
  }

  /**
   * Returns a connection from this server to the address that a caller claimed; null if no ring
   * here names that address. Rejects with PEER_UNREACHABLE.
   */
  async connectBack(caller: Caller): Promise<Caller | null> {
    const address = this.#claimedAddresses.get(caller);
    return address === undefined ? null : this.#ports.connect(address);
  }

  /**
   * A server without any ring knows no peers, and takes its first ring from any caller, as it takes
   * a push: so a wiped device can rejoin its cluster.
   */
  #isKnownPeer(address: string): boolean {
    const claimed = parseAddress(address);
    // It does not call itself.
    if (claimed !== null && comparableAddress(claimed) === this.#self) return false;
    if (this.#ports.rings.list().length > 0) {
      this.#unknownAddresses.clear();
      return this.isNamed(address);
    }
    if (!isWholeAddress(address)) return false;
    if (this.#unknownAddresses.size < unknownPeersMax) this.#unknownAddresses.add(address);
    return this.#unknownAddresses.has(address);
  }
}
