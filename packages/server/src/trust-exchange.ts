// Trust documents and beacons on the wire: taken from the tool and from peers, handed on to peers.

import { peerCallTimeoutMs } from '@ringwright/base/limits';
import type { Caller } from '@ringwright/wire/call-channel';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { trustFetch, type trustOffer } from '@ringwright/wire/trust';
import type { Logger } from 'pino';
import type { TrustStore } from './trust-store.ts';

export class TrustExchange {
  readonly #store: TrustStore;
  readonly #log: Pick<Logger, 'warn'>;

  constructor(store: TrustStore, log: Pick<Logger, 'warn'>) {
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
