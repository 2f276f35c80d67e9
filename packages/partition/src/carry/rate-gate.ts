// Holds bytes back to a rate that operators set, in a process that copies.
import { copyPieceBytes, copyWriteBytes } from '@ringwright/base/limits-copies';
import { debtMs, newBucket, refill, take } from '@ringwright/base/token-bucket';

export class RateGate {
  #rate: number | null = null;
  #bucket = newBucket(performance.now());

  setRate(rate: number | null): void {
    this.#refill();
    this.#rate = rate;
  }

  /** Bytes that pass at once: with a rate few, or some copy would wait for long behind others. */
  get pieceBytes(): number {
    return this.#rate === null ? copyPieceBytes : copyWriteBytes;
  }

  /** These bytes have passed; gives how long to wait before more do. */
  passed(bytes: number): number {
    if (this.#rate === null) return 0;
    this.#refill();
    this.#bucket = take(this.#bucket, bytes);
    return debtMs(this.#bucket, this.#rate);
  }

  #refill(): void {
    const nowMs = performance.now();
    this.#bucket = this.#rate === null ? newBucket(nowMs) : refill(this.#bucket, this.#rate, nowMs);
  }
}
