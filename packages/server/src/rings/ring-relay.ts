// Sends rings that a device of a ring lacks, when this server greets it. A device listens only to
// servers that its own rings name. If it is new to a ring, or its ring names only outdated
// addresses, it does not know from whom to fetch. But it takes a ring from any sender, as it takes
// a push.
import { CodedError } from '@ringwright/base/coded-error';
import { isPeerCode } from '@ringwright/base/errors';
import { getOrMake } from '@ringwright/base/get-or-make';
import { ringActivationMsMax, ringRelayAgainMs } from '@ringwright/base/limits-rings';
import type { Caller } from '@ringwright/wire/call-channel';
import type { RingHeld } from '@ringwright/wire/hello';
import { sendRing } from '@ringwright/wire/send-ring';
import type { TrustExchange } from '../trust/trust-exchange.ts';
import { type ActiveRing, addressesIn, ringHead } from './active-ring.ts';
import type { RelayedDeltas } from './relayed-deltas.ts';
import type { Rings } from './rings.ts';

interface RingRelayPorts {
  readonly rings: Pick<Rings, 'list' | 'find'>;
  readonly trust: Pick<TrustExchange, 'give'>;
  readonly deltas: Pick<RelayedDeltas, 'from'>;
  readonly monotonicMs: () => number;
  /** Resolves after a pause in which a device that knows this server can fetch for itself. */
  readonly cooldown: () => Promise<unknown>;
  readonly onSent: (to: string, active: ActiveRing) => void;
  readonly onRefused: (to: string, active: ActiveRing, error: unknown) => void;
}

export class RingRelay {
  readonly #ports: RingRelayPorts;
  /** Addresses to which rings are being sent. */
  readonly #sending = new Set<string>();
  /** By address: until when a ring that was refused there is not sent again, in monotonic ms. */
  readonly #refused = new WeakMap<ActiveRing, Map<string, number>>();

  constructor(ports: RingRelayPorts) {
    this.#ports = ports;
  }

  /**
   * Sends to the server at an address, which has the rings `heads`, what it lacks of the rings that
   * name it. Resolves when it has them or has refused them; a refusal is reported and is not a
   * failure.
   */
  async send(to: string, peer: Caller, heads: readonly RingHeld[]): Promise<void> {
    const lacking = this.#lacking(to, heads);
    if (lacking.length === 0 || this.#sending.has(to)) return;
    this.#sending.add(to);
    try {
      await this.#ports.cooldown();
      for (const keyspace of lacking) {
        const active = this.#ports.rings.find(keyspace);
        if (active !== undefined) await this.#sendOne(to, peer, active);
      }
    } finally {
      this.#sending.delete(to);
    }
  }

  /** Returns the keyspaces whose ring names the address and is newer than the peer's. */
  #lacking(to: string, heads: readonly RingHeld[]): string[] {
    const versions = new Map(heads.map(({ keyspace, version }) => [keyspace, version]));
    const nowMs = this.#ports.monotonicMs();
    return this.#ports.rings
      .list()
      .filter(({ ring }) => addressesIn(ring).has(to))
      .filter(({ ring }) => (versions.get(ring.keyspace) ?? 0) < ring.version)
      .filter((active) => (this.#refused.get(active)?.get(to) ?? nowMs) <= nowMs)
      .map(({ ring }) => ring.keyspace);
  }

  async #sendOne(to: string, peer: Caller, active: ActiveRing): Promise<void> {
    const { trust, deltas, onSent, onRefused } = this.#ports;
    try {
      // The ring may be signed by keys that came into force while that server was offline.
      await trust.give(peer);
      const { how } = await sendRing(peer, {
        ...ringHead(active),
        bytes: active.bytes,
        deltaFrom: (base) => deltas.from(base, active),
        timeoutMs: ringActivationMsMax,
      });
      if (how !== 'had') onSent(to, active);
    } catch (error) {
      // A ring that did not arrive is sent with the next greeting; a ring that was refused, much
      // later.
      if (!isDeliveryError(error)) {
        const untilByAddress = getOrMake(this.#refused, active, () => new Map());
        untilByAddress.set(to, this.#ports.monotonicMs() + ringRelayAgainMs);
      }
      onRefused(to, active, error);
    }
  }
}

/**
 * Whether the ring was not judged at all. A server without an access document judges nothing: it
 * gets the document with a greeting, and the rings after that.
 */
function isDeliveryError(error: unknown): boolean {
  if (!(error instanceof CodedError)) return false;
  return isPeerCode(error.code) || error.code === 'ACCESS_PENDING';
}
