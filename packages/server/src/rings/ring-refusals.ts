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
  readonly #held = new Map<string, RingRefusal>();
  readonly #unknown = new Map<string, RingRefusal>();
  #last: CodedError | null = null;

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  list(): RingRefusal[] {
    return [...this.#held.values(), ...this.#unknown.values()];
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
    const held = isKnown ? this.#held : this.#unknown;
    held.delete(keyspace);
    held.set(keyspace, { keyspace, code, message, atMs: this.#ports.nowMs() });
    const [oldest] = this.#unknown.keys();
    if (oldest !== undefined && this.#unknown.size > unknownRefusalsMax) {
      this.#unknown.delete(oldest);
    }
  }

  /** To be called when a ring of the keyspace was adopted. */
  forget(keyspace: string): void {
    this.#held.delete(keyspace);
    this.#unknown.delete(keyspace);
  }
}
