// Bytes that a server holds for connections whose requests are not whole yet, or whose answers are
// not read: bounded for all of them together. Beyond it the one that came on least lately ends.

export interface HeldBytes {
  /** So many are held for it now. */
  hold(bytes: number): void;
  /** A request of it is whole, or an answer was read: others are older now. */
  cameOn(): void;
  leave(): void;
}

interface Holder {
  bytes: number;
  readonly end: () => void;
}

export class ByteBudget {
  readonly #bytesMax: number;
  /** Of those that hold some; whoever came on least lately comes first. */
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
    const holder: Holder = { bytes: 0, end };
    return {
      hold: (bytes) => {
        if (bytes === holder.bytes) return; // most of the time: nothing is held
        this.#bytes += bytes - holder.bytes;
        holder.bytes = bytes;
        if (bytes === 0) this.#holders.delete(holder);
        else this.#holders.add(holder);
        this.#endOldest();
      },
      cameOn: () => {
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
  }
}
