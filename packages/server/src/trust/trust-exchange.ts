// Trust documents, beacons and the access document on the wire: taken from the tool and from peers,
// and passed on to peers.

import { peerCallTimeoutMs } from '@ringwright/base/limits';
import type { Caller } from '@ringwright/wire/call-channel';
import type { AccessHead } from '@ringwright/wire/hello';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { trustFetch, trustOffer } from '@ringwright/wire/trust';
import type { Logger } from 'pino';
import type { AccessStore } from './access-store.ts';
import type { TrustStore } from './trust-store.ts';

export class TrustExchange {
  readonly #store: TrustStore;
  readonly #access: AccessStore;
  readonly #log: Pick<Logger, 'warn' | 'info'>;

  constructor(store: TrustStore, access: AccessStore, log: Pick<Logger, 'warn' | 'info'>) {
    this.#store = store;
    this.#access = access;
    this.#log = log;
  }

  /**
   * Throws what the stores throw. Documents before the failing one in the request stay in force.
   */
  async offer(request: RequestOf<typeof trustOffer>): Promise<AnswerOf<typeof trustOffer>> {
    if (request.roots !== null) await this.#store.offerRoots(request.roots);
    if (request.access !== null) await this.#access.offer(request.access);
    for (const beacon of request.beacons) await this.#store.offerBeacon(beacon);
    return {
      trusted: this.#store.trusts().map(({ id, root }) => {
        const { cluster, version, epoch } = root;
        return { cluster, version, epoch, id };
      }),
    };
  }

  fetch(): AnswerOf<typeof trustFetch> {
    return { ...this.#store.documents(), access: this.#access.current?.bytes ?? null };
  }

  /**
   * Gives a peer the documents that are here, before a ring for which it needs them. A refusal is
   * not a failure.
   */
  async give(peer: Caller): Promise<void> {
    const { roots, beacons, access } = this.fetch();
    const offers = [
      ...roots.map((document) => ({ roots: document, beacons: [], access: null })),
      ...(access === null ? [] : [{ roots: null, beacons: [], access }]),
      ...beacons.map((beacon) => ({ roots: null, beacons: [beacon], access: null })),
    ];
    for (const offer of offers) {
      await peer.call(trustOffer, offer, peerCallTimeoutMs).catch((error: unknown) => {
        // The peer may have newer ones.
        this.#log.info({ error }, 'signed document refused by a peer');
      });
    }
  }

  /**
   * Takes the documents that a peer has and this server lacks. A refusal is logged and is not a
   * failure.
   */
  async catchUp(peer: Caller): Promise<void> {
    if (!this.#store.demands) return;
    const { roots, beacons, access } = await peer.call(trustFetch, {}, peerCallTimeoutMs);
    const offers = [
      ...roots.map((bytes) => () => this.#store.offerRoots(bytes)),
      ...(access === null ? [] : [() => this.#access.offer(access)]),
      ...beacons.map((bytes) => () => this.#store.offerBeacon(bytes)),
    ];
    for (const offer of offers) {
      await offer().catch((error: unknown) => {
        this.#log.warn({ error }, 'signed document of a peer refused');
      });
    }
  }

  /** After a hello: gives the newer access document to the side that has the older one. */
  async align(peerHead: AccessHead | null, peer: Caller): Promise<void> {
    const ahead = compareHeads(this.#access.head, peerHead);
    if (ahead > 0) await this.give(peer);
    if (ahead < 0) await this.catchUp(peer);
  }
}

/** Compares two heads. Above 0: the first is newer. */
function compareHeads(a: AccessHead | null, b: AccessHead | null): number {
  return (a?.epoch ?? 0) - (b?.epoch ?? 0) || (a?.version ?? 0) - (b?.version ?? 0);
}
