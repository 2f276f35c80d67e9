// The other servers, by address. Connections are shared by everything that calls the same server.
import { Peer, type PeerPorts } from './peer.ts';

export class Peers {
  readonly #ports: PeerPorts;
  readonly #byAddress = new Map<string, Peer>();

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

  close(): void {
    for (const peer of this.#byAddress.values()) peer.close();
  }
}
