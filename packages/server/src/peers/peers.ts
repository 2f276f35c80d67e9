// The other servers, by address. Connections are shared by everything that calls the same server.
import { Link, type LinkPorts } from '@ringwright/node/link/link';

export class Peers {
  readonly #ports: LinkPorts;
  readonly #byAddress = new Map<string, Link>();
  readonly #leaving = new Set<Link>();

  constructor(ports: LinkPorts) {
    this.#ports = ports;
  }

  connect(address: string): Link {
    const known = this.#byAddress.get(address);
    if (known !== undefined) return known;
    const peer = new Link(address, this.#ports);
    this.#byAddress.set(address, peer);
    return peer;
  }

  list(): Link[] {
    return [...this.#byAddress.values()];
  }

  /** Forgets those that have left: one that was found so before, so that calls to it can end. */
  keep(isNamed: (address: string) => boolean): void {
    for (const [address, peer] of this.#byAddress) {
      if (isNamed(address)) this.#leaving.delete(peer);
      else if (this.#leaving.delete(peer)) {
        this.#byAddress.delete(address);
        peer.close();
      } else this.#leaving.add(peer);
    }
  }

  close(): void {
    for (const peer of this.#byAddress.values()) peer.close();
  }
}
