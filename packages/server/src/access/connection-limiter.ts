// Places for the connections of one listener, limited in all and per address, with some reserved
// for connections that the server knows. When all are taken, the connection of an unknown caller
// that has been idle for longest is closed.
import { isLoopback } from '@ringwright/base/server-address';

interface ConnectionLimits {
  readonly max: number;
  /** How many of these only known guests may use: devices of rings, operators. */
  readonly reserved: number;
  /** Limit per address. Programs of this machine and known guests are not counted. */
  readonly perAddressMax: number;
}

export interface AdmittedConnection {
  /** IP address. */
  readonly address: string;
  readonly isKnown: () => boolean;
  /** Whether something is under way: such a connection is not closed to make room. */
  readonly isBusy: () => boolean;
  readonly end: () => void;
}

export interface Admission {
  /** To be called when the connection did something: it becomes the newest. */
  used(): void;
  leave(): void;
}

export class ConnectionLimiter {
  readonly #rules: ConnectionLimits;
  /** The connection that was idle for the longest time comes first. */
  readonly #guests = new Set<AdmittedConnection>();
  readonly #byAddress = new Map<string, number>();

  constructor(rules: ConnectionLimits) {
    this.#rules = rules;
  }

  get taken(): number {
    return this.#guests.size;
  }

  /** Returns null if there is no place, and no connection that could be closed. */
  enter(guest: AdmittedConnection): Admission | null {
    const { max, reserved, perAddressMax } = this.#rules;
    const isKnown = guest.isKnown();
    const { address } = guest;
    const isCounted = !isKnown && !isLoopback(address);
    const isCrowd = isCounted && (this.#byAddress.get(address) ?? 0) >= perAddressMax;
    if (isCrowd && !this.#endOldest((other) => other.address === address)) return null;
    const isFull = this.#guests.size >= (isKnown ? max : max - reserved);
    if (isFull && !this.#endOldest(() => true)) return null;
    this.#guests.add(guest);
    if (isCounted) this.#count(address, 1);
    let isAdmitted = true;
    return {
      used: () => {
        if (this.#guests.delete(guest)) this.#guests.add(guest);
      },
      leave: () => {
        this.#guests.delete(guest);
        if (isAdmitted && isCounted) this.#count(address, -1);
        isAdmitted = false;
      },
    };
  }

  #endOldest(isCandidate: (guest: AdmittedConnection) => boolean): boolean {
    for (const guest of this.#guests) {
      if (!isCandidate(guest) || guest.isBusy() || guest.isKnown()) continue;
      this.#guests.delete(guest);
      guest.end();
      return true;
    }
    return false;
  }

  #count(address: string, by: number): void {
    const count = (this.#byAddress.get(address) ?? 0) + by;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}
