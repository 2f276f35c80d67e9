// The other servers, by address. Connections are shared by everything that calls the same server.
import { Peer, type PeerPorts } from './peer.ts';

export class Peers {
  readonly #ports: PeerPorts;
  readonly #byAddress = new Map<string, Peer>();
  readonly #leaving = new Set<Peer>();

  constructor(ports: PeerPorts) {
    this.#ports = ports;
  }

  connect(address: string): Peer {
    const known = this.#byAddress.get(address);
    if (known !== undefined) return known;
    const peer = new Peer(address, this.#ports);
    this.#byAddress.set(address, peer);
    return peer;
  }

  list(): Peer[] {
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
