// A token bucket with an adjustable rate. It may go into debt: a caller that finds it not empty
// takes any amount, and the next callers wait until the debt is paid. So no amount is too large for
// it.

/** While nobody takes tokens, at most those of this time accumulate. */
const BURST_MS = 100;

export class TokenBucket {
  readonly #monotonicMs: () => number;
  #rate: number | null = null;
  /** Available tokens; negative: debt. */
  #level = 0;
  #refilledMs = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Tokens per second; null: unlimited, never in debt. */
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

  /** How many ms it will be in debt; `more`: if these tokens were taken too. */
  debtMs(more = 0): number {
    if (this.#rate === null) return 0;
    this.#refill();
    const level = this.#level - more;
    return level >= 0 ? 0 : (-level * 1_000) / this.#rate;
  }

  /** Adds tokens for the time since the last refill. A clock that steps back adds nothing. */
  #refill(): void {
    const nowMs = this.#monotonicMs();
    const passedMs = Math.max(0, nowMs - this.#refilledMs);
    this.#refilledMs = nowMs;
    const rate = this.#rate;
    if (rate === null) this.#level = 0;
    else this.#level = Math.min(this.#level + (passedMs * rate) / 1_000, (rate * BURST_MS) / 1_000);
  }
}
