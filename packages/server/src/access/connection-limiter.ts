// Limits the connections of one listener, in all and per address. Some are reserved for callers
// that the server knows. At the limit, the connection of an unknown caller that has been idle for
// longest is closed.
import { isLoopback } from '@ringwright/base/server-address';

interface ConnectionLimits {
  readonly max: number;
  /** How many of these only known callers may use: devices of rings, operators. */
  readonly reserved: number;
  /** Limit per address. Programs of this machine and known callers are not counted. */
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
  readonly #connections = new Set<AdmittedConnection>();
  readonly #byAddress = new Map<string, number>();

  constructor(rules: ConnectionLimits) {
    this.#rules = rules;
  }

  get count(): number {
    return this.#connections.size;
  }

  /** Returns null at a limit, if no connection could be closed. */
  admit(connection: AdmittedConnection): Admission | null {
    const { max, reserved, perAddressMax } = this.#rules;
    const isKnown = connection.isKnown();
    const { address } = connection;
    const isCounted = !isKnown && !isLoopback(address);
    const isCrowd = isCounted && (this.#byAddress.get(address) ?? 0) >= perAddressMax;
    if (isCrowd && !this.#endOldest((other) => other.address === address)) return null;
    const isFull = this.#connections.size >= (isKnown ? max : max - reserved);
    if (isFull && !this.#endOldest(() => true)) return null;
    this.#connections.add(connection);
    if (isCounted) this.#countAddress(address, 1);
    let isAdmitted = true;
    return {
      used: () => {
        if (this.#connections.delete(connection)) this.#connections.add(connection);
      },
      leave: () => {
        this.#connections.delete(connection);
        if (isAdmitted && isCounted) this.#countAddress(address, -1);
        isAdmitted = false;
      },
    };
  }

  #endOldest(isCandidate: (connection: AdmittedConnection) => boolean): boolean {
    for (const connection of this.#connections) {
      if (!isCandidate(connection) || connection.isBusy() || connection.isKnown()) continue;
      this.#connections.delete(connection);
      connection.end();
      return true;
    }
    return false;
  }

  #countAddress(address: string, by: number): void {
    const count = (this.#byAddress.get(address) ?? 0) + by;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}
