// The other servers, by address. Connections are shared by everything that calls the same server.
import { getOrMake } from '@ringwright/base/get-or-make';
import { Link, type LinkPorts } from '@ringwright/node/link/link';

export class Peers {
  readonly #ports: LinkPorts;
  readonly #byAddress = new Map<string, Link>();
  readonly #leaving = new Set<Link>();

  constructor(ports: LinkPorts) {
    this.#ports = ports;
  }

  connect(address: string): Link {
    return getOrMake(this.#byAddress, address, () => new Link(address, this.#ports));
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
