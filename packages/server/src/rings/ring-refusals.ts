// The last ring that was refused, by keyspace: what `ring-builder servers` shows.
import type { CodedError } from '@ringwright/base/coded-error';

export interface RingRefusal {
  readonly keyspace: string;
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
}

interface RefusalPorts {
  readonly nowMs: () => number;
  /** Told of every refusal once. */
  readonly onRefuse?: ((error: CodedError) => void) | undefined;
}

export class RingRefusals {
  readonly #ports: RefusalPorts;
  readonly #held = new Map<string, RingRefusal>();
  #last: CodedError | null = null;

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  list(): RingRefusal[] {
    return [...this.#held.values()];
  }

  /** A refusal may pass here twice on its way out: it counts once. */
  add(keyspace: string, error: CodedError): void {
    if (this.#last === error) return;
    this.#last = error;
    const { code, message } = error;
    this.#ports.onRefuse?.(error);
    this.#held.set(keyspace, { keyspace, code, message, atMs: this.#ports.nowMs() });
  }

  /** A ring of the keyspace was taken. */
  forget(keyspace: string): void {
    this.#held.delete(keyspace);
  }
}
