// The last ring that was refused, by keyspace: what `ring-builder servers` shows.
import type { CodedError } from '@ringwright/base/coded-error';

export interface RingRefusal {
  readonly keyspace: string;
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

/** Names that no ring here has: a stranger may offer any. The oldest go. */
const unknownRefusalsMax = 16;

interface RefusalPorts {
  readonly nowMs: () => number;
  /** Told of every refusal once. */
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
   * A refusal may pass here twice on its way out: it counts once. `isKnown`: a ring of this name
   * has been here.
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

  /** A ring of the keyspace was taken. */
  forget(keyspace: string): void {
    this.#held.delete(keyspace);
    this.#unknown.delete(keyspace);
  }
}
