// Latencies of recent requests: counts per bucket, over the last few rounds of an outside clock.
// Buckets 19 % wide are enough for a control law, and take little memory.

const BUCKETS_PER_DOUBLING = 4;
/** Buckets start at 1/16 ms: anything faster counts as that. */
const LEAST_MS = 1 / 16;
/** Buckets end at 65 s: slower requests have long timed out. */
const BUCKETS = 20 * BUCKETS_PER_DOUBLING;

export class LatencyWindow {
  readonly #rounds: Uint32Array[];
  #current = 0;

  /** `turns`: the number of rounds that are evaluated together. */
  constructor(turns: number) {
    this.#rounds = Array.from({ length: turns }, () => new Uint32Array(BUCKETS));
  }

  add(ms: number): void {
    const doublings = Math.log2(Math.max(ms, LEAST_MS) / LEAST_MS);
    const bucket = Math.min(Math.floor(doublings * BUCKETS_PER_DOUBLING), BUCKETS - 1);
    const counts = this.#rounds[this.#current];
    if (counts !== undefined) counts[bucket] = (counts[bucket] ?? 0) + 1;
  }

  /** Begins the next round and forgets the oldest. */
  round(): void {
    this.#current = (this.#current + 1) % this.#rounds.length;
    this.#rounds[this.#current]?.fill(0);
  }

  /**
   * Returns the upper bound of the bucket of the 99th percentile, in ms; null below `countMin`
   * requests.
   */
  p99Ms(countMin: number): number | null {
    const sums = Array.from({ length: BUCKETS }, (_, bucket) =>
      this.#rounds.reduce((sum, counts) => sum + (counts[bucket] ?? 0), 0),
    );
    const count = sums.reduce((sum, one) => sum + one, 0);
    if (count < countMin) return null;
    let above = count / 100;
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket -= 1) {
      above -= sums[bucket] ?? 0;
      if (above < 0) return LEAST_MS * 2 ** ((bucket + 1) / BUCKETS_PER_DOUBLING);
    }
    return null;
  }
}
