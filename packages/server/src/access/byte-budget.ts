// Limits the bytes that a server holds for all connections together: of incomplete requests and of
// answers that are not read. Beyond the limit, the connection that made progress least recently
// ends.

import { listenerBudgetBytesMin, listenerMemoryShare } from '@ringwright/base/limits-listeners';
import { machineMemoryBytes } from '@ringwright/node/machine-limits';

export interface HeldBytes {
  /** Sets the number of bytes held for the connection. */
  hold(bytes: number): void;
  /**
   * To be called when a request is complete or an answer was read: the connection becomes the
   * newest.
   */
  noteProgress(): void;
  leave(): void;
}

interface Holder {
  bytes: number;
  /** Answers may still end after their connection, and report bytes that nobody would give back. */
  hasLeft: boolean;
  readonly end: () => void;
}

/** Returns `bytesMax`, or a share of the machine's memory where that is less. */
export function affordableBytes(bytesMax: number, memoryBytes = machineMemoryBytes()): number {
  const share = Math.max(memoryBytes * listenerMemoryShare, listenerBudgetBytesMin);
  return Math.min(bytesMax, share);
}

export class ByteBudget {
  readonly #bytesMax: number;
  /** Connections that hold bytes, the one that made progress least recently first. */
  readonly #holders = new Set<Holder>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `end` is called when its bytes have to go. */
  connection(end: () => void): HeldBytes {
    const holder: Holder = { bytes: 0, hasLeft: false, end };
    return {
      hold: (bytes) => {
        if (bytes === holder.bytes || holder.hasLeft) return; // most often: nothing is held
        this.#bytes += bytes - holder.bytes;
        holder.bytes = bytes;
        if (bytes === 0) this.#holders.delete(holder);
        else this.#holders.add(holder);
        this.#endOldest();
      },
      noteProgress: () => {
        if (this.#holders.delete(holder)) this.#holders.add(holder);
      },
      leave: () => this.#forget(holder),
    };
  }

  #endOldest(): void {
    for (const holder of this.#holders) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#forget(holder);
      holder.end();
    }
  }

  #forget(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.bytes;
    holder.bytes = 0;
    holder.hasLeft = true;
  }
}
