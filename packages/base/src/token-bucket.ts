// Lets amounts pass at a rate that may change. The bucket may go into debt: whoever finds it not
// empty takes any amount, and those who come next wait until the debt is paid. So no amount is too
// large for it.

/** Tokens that gather while nobody takes any: those of this time. */
const BURST_MS = 100;

export class TokenBucket {
  readonly #monotonicMs: () => number;
  #rate: number | null = null;
  /** Tokens to be had; negative: debt. */
  #level = 0;
  #atMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Tokens per second; null: there is never a debt. */
  get rate(): number | null {
    return this.#rate;
  }

  setRate(rate: number | null): void {
    this.#refill();
    this.#rate = rate;
  }

  take(tokens: number): void {
    this.#refill();
    this.#level -= tokens;
  }

  /** How long it is in debt from now on; `more`: if these were taken, too. */
  debtMs(more = 0): number {
    if (this.#rate === null) return 0;
    this.#refill();
    const level = this.#level - more;
    return level >= 0 ? 0 : (-level * 1_000) / this.#rate;
  }

  /** By the rate since it was last looked at. A clock that steps back adds nothing. */
  #refill(): void {
    const nowMs = this.#monotonicMs();
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#atMs = nowMs;
    const rate = this.#rate;
    if (rate === null) this.#level = 0;
    else this.#level = Math.min(this.#level + (passedMs * rate) / 1_000, (rate * BURST_MS) / 1_000);
  }
}
