// The other servers, by address. All code that calls the same server shares one connection.
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

  /**
   * Forgets servers that have left all rings. A connection is closed only at the second call, so
   * that calls on it can end.
   */
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
