// The servers of a keyspace and its ring, which newer answers make this client fetch again.
import { must } from '@ringwright/base/assert';
import type { CallChannel } from '@ringwright/wire/call-channel';
import { fetchRing } from '@ringwright/wire/fetch-ring';
import { type KnownRing, knownRing } from './known-ring.ts';
import { serverChoice } from './server-choice.ts';
import { ServerLink } from './server-link.ts';

interface FollowerSettings {
  readonly keyspace: string;
  readonly timeoutMs: number;
}

export class RingFollower {
  readonly #settings: FollowerSettings;
  /** Given to connect(): asked last, and never forgotten. */
  readonly #seeds: readonly string[];
  readonly #links = new Map<string, ServerLink>();
  readonly #retired = new Set<ServerLink>();
  #ring: KnownRing | null = null;
  #fetching = false;

  constructor(seeds: readonly string[], settings: FollowerSettings) {
    this.#seeds = seeds;
    this.#settings = settings;
  }

  get ring(): KnownRing {
    return must(this.#ring, 'connect() learns the ring before anybody asks for it');
  }

  /** Servers to send a request about `key` to, best first. */
  choose(key: Uint8Array): string[] {
    const { ring } = this;
    return serverChoice({
      holders: ring.holdersOf(key),
      others: [...ring.addresses, ...this.#seeds],
      isWell: (address) => this.#links.get(address)?.isWell ?? true,
    });
  }

  /** An open channel to a server. Rejects before anything has been sent. */
  open(address: string): Promise<CallChannel> {
    const known = this.#links.get(address);
    const link = known ?? new ServerLink(address, this.#settings.timeoutMs);
    this.#links.set(address, link);
    return link.open();
  }

  avoid(address: string): void {
    this.#links.get(address)?.avoid();
  }

  /** Learns the ring from a server; throws what the server or the connection says. */
  async learn(channel: CallChannel): Promise<void> {
    const ring = knownRing(await fetchRing(channel, this.#settings.keyspace));
    if (ring.version <= (this.#ring?.version ?? 0)) return;
    this.#ring = ring;
    const wanted = new Set([...ring.addresses, ...this.#seeds]);
    for (const [address, link] of this.#links) {
      if (wanted.has(address)) continue;
      this.#links.delete(address);
      this.#retire(link);
    }
  }

  /** An answer came from a server with this ring version: a newer ring is fetched from it. */
  heard(version: number, channel: CallChannel): void {
    if (version <= this.ring.version || this.#fetching) return;
    this.#fetching = true;
    this.learn(channel)
      // The old ring still works: any server coordinates. The next answer tries again.
      .catch(() => undefined)
      .finally(() => {
        this.#fetching = false;
      });
  }

  close(): void {
    for (const link of [...this.#links.values(), ...this.#retired]) link.close();
  }

  /** Answers may still be on their way from a server that has left the ring. */
  #retire(link: ServerLink): void {
    this.#retired.add(link);
    const timer = setTimeout(() => {
      this.#retired.delete(link);
      link.close();
    }, this.#settings.timeoutMs);
    timer.unref();
  }
}
