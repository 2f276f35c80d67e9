// Trust documents and beacons on the wire: taken from the tool and from peers, handed on to peers.

import { peerCallTimeoutMs } from '@ringwright/base/limits';
import type { Caller } from '@ringwright/wire/call-channel';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { trustFetch, trustOffer } from '@ringwright/wire/trust';
import type { Logger } from 'pino';
import type { TrustStore } from './trust-store.ts';

export class TrustExchange {
  readonly #store: TrustStore;
  readonly #log: Pick<Logger, 'warn' | 'info'>;

  constructor(store: TrustStore, log: Pick<Logger, 'warn' | 'info'>) {
    this.#store = store;
    this.#log = log;
  }

  /** Throws what offerRoots and offerBeacon throw; what came before in the request stays. */
  async offer(request: RequestOf<typeof trustOffer>): Promise<AnswerOf<typeof trustOffer>> {
    if (request.roots !== null) await this.#store.offerRoots(request.roots);
    for (const beacon of request.beacons) await this.#store.offerBeacon(beacon);
    return {
      trusted: this.#store.trusts().map(({ id, root }) => {
        const { cluster, version, epoch } = root;
        return { cluster, version, epoch, id };
      }),
    };
  }

  fetch(): AnswerOf<typeof trustFetch> {
    return this.#store.documents();
  }

  /** Gives a peer what is here, before a ring that it needs it for; a refusal is no failure. */
  async give(peer: Caller): Promise<void> {
    const { roots, beacons } = this.#store.documents();
    const offers = [
      ...roots.map((document) => ({ roots: document, beacons: [] })),
      ...beacons.map((beacon) => ({ roots: null, beacons: [beacon] })),
    ];
    for (const offer of offers) {
      await peer.call(trustOffer, offer, peerCallTimeoutMs).catch((error: unknown) => {
        // What it has may be newer.
        this.#log.info({ error }, 'trust document or beacon refused by a peer');
      });
    }
  }

  /** Takes what a peer has and this server does not; a refusal is told and is no failure. */
  async catchUp(peer: Caller): Promise<void> {
    if (!this.#store.demands) return;
    const { roots, beacons } = await peer.call(trustFetch, {}, peerCallTimeoutMs);
    const offers = [
      ...roots.map((bytes) => () => this.#store.offerRoots(bytes)),
      ...beacons.map((bytes) => () => this.#store.offerBeacon(bytes)),
    ];
    for (const offer of offers) {
      await offer().catch((error: unknown) => {
        this.#log.warn({ error }, 'trust document or beacon of a peer refused');
      });
    }
  }
}
