// Lets the bytes of copies pass at a rate, first come first served. A device has one for each
// direction.
import { throttleTurnMs } from '@ringwright/base/limits-copies';
import { TokenBucket } from '@ringwright/base/token-bucket';

export class CopyThrottle {
  readonly #bucket: TokenBucket;
  #turn: Promise<void> = Promise.resolve();
  #waitingBytes = 0;
  #passedBytes = 0;
  #closed = false;

  constructor(monotonicMs: () => number) {
    this.#bucket = new TokenBucket(monotonicMs);
  }

  /**
   * Sets the bytes per second; null: everything passes at once. Applies also to those that wait.
   */
  setRate(rate: number | null): void {
    this.#bucket.setRate(rate);
  }

  /** Resolves when the bytes may pass. */
  pass(bytes: number): Promise<void> {
    this.#waitingBytes += bytes;
    this.#turn = this.#turn.then(() => this.#passNow(bytes));
    return this.#turn;
  }

  /** How long bytes that arrive now would have to wait. */
  backlogMs(): number {
    return this.#bucket.debtMs(this.#waitingBytes);
  }

  /** Counts bytes that have passed elsewhere, at the same rate. */
  note(bytes: number): void {
    this.#passedBytes += bytes;
  }

  /** Bytes that have passed since the last call. */
  passedBytes(): number {
    const passed = this.#passedBytes;
    this.#passedBytes = 0;
    return passed;
  }

  /** Ends all waiting. */
  close(): void {
    this.#closed = true;
  }

  async #passNow(bytes: number): Promise<void> {
    for (;;) {
      const waitMs = this.#bucket.debtMs();
      if (waitMs === 0 || this.#closed) break;
      await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, throttleTurnMs)));
    }
    this.#bucket.take(bytes);
    this.#waitingBytes -= bytes;
    this.#passedBytes += bytes;
  }
}
