// The last refused ring of each keyspace, for `ring-builder servers`.
import type { CodedError } from '@ringwright/base/coded-error';

export interface RingRefusal {
  readonly keyspace: string;
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

/**
 * Limit for names of which no ring is here, since an unknown caller may offer any name. The oldest
 * is removed first.
 */
const unknownRefusalsMax = 16;

interface RefusalPorts {
  readonly nowMs: () => number;
  /** Called once for every refusal. */
  readonly onRefuse: (error: CodedError) => void;
}

export class RingRefusals {
  readonly #ports: RefusalPorts;
  readonly #knownRefusals = new Map<string, RingRefusal>();
  readonly #unknownRefusals = new Map<string, RingRefusal>();
  #last: CodedError | null = null;

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  list(): RingRefusal[] {
    return [...this.#knownRefusals.values(), ...this.#unknownRefusals.values()];
  }

  /**
   * Notes a refusal. It may pass here twice on its way out, but counts once. `isKnown`: a ring of
   * this name has been here.
   */
  add(keyspace: string, error: CodedError, isKnown = true): void {
    if (this.#last === error) return;
    this.#last = error;
    const { code, message } = error;
    this.#ports.onRefuse(error);
    const refusals = isKnown ? this.#knownRefusals : this.#unknownRefusals;
    refusals.delete(keyspace);
    refusals.set(keyspace, { keyspace, code, message, atMs: this.#ports.nowMs() });
    const [oldest] = this.#unknownRefusals.keys();
    if (oldest !== undefined && this.#unknownRefusals.size > unknownRefusalsMax) {
      this.#unknownRefusals.delete(oldest);
    }
  }

  /** To be called when a ring of the keyspace was adopted. */
  forget(keyspace: string): void {
    this.#knownRefusals.delete(keyspace);
    this.#unknownRefusals.delete(keyspace);
  }
}
