// Lets bytes of copies pass at a rate, first come first served. One for each direction of a device.
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

  /** Bytes per second; null: everything passes at once. For those that wait already, too. */
  setRate(rate: number | null): void {
    this.#bucket.setRate(rate);
  }

  /** Resolves when the bytes may pass. */
  pass(bytes: number): Promise<void> {
    this.#waitingBytes += bytes;
    this.#turn = this.#turn.then(() => this.#passNow(bytes));
    return this.#turn;
  }

  /** How long bytes that came now would wait. */
  backlogMs(): number {
    return this.#bucket.debtMs(this.#waitingBytes);
  }

  /** These have passed elsewhere, at the same rate. */
  note(bytes: number): void {
    this.#passedBytes += bytes;
  }

  /** Bytes that have passed since the last call. */
  passedBytes(): number {
    const passed = this.#passedBytes;
    this.#passedBytes = 0;
    return passed;
  }

  /** Nobody waits any longer. */
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
