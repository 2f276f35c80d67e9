// Limits how long all connections together may hold one turn of the event loop. A client that sends
// many small requests, such as an unauthorized one whose every request is refused, waits for the
// next turn.
import { redisTurnMsMax } from '@ringwright/base/limits-listeners';

/** Requests between two checks of the clock. */
const REQUESTS_PER_CHECK = 32;

export class TurnBudget {
  #endsMs: number | null = null;
  #isSpent = false;
  #checks = 0;
  #waiting = new Set<() => void>();

  /** To be checked before each request. */
  isSpent(): boolean {
    this.#checks += 1;
    if (this.#endsMs !== null && this.#checks % REQUESTS_PER_CHECK !== 0) return this.#isSpent;
    const nowMs = performance.now();
    if (this.#endsMs === null) {
      this.#endsMs = nowMs + redisTurnMsMax;
      setImmediate(() => this.#nextTurn());
    }
    this.#isSpent = nowMs >= this.#endsMs;
    return this.#isSpent;
  }

  /** Calls `goOn` in a later turn, after all who have waited longer. */
  wait(goOn: () => void): void {
    this.#waiting.add(goOn);
  }

  #nextTurn(): void {
    this.#endsMs = null;
    this.#isSpent = false;
    const waiting = [...this.#waiting];
    this.#waiting = new Set();
    let next = 0;
    while (next < waiting.length && !this.isSpent()) {
      waiting[next]?.();
      next += 1;
    }
    this.#waiting = new Set([...waiting.slice(next), ...this.#waiting]);
  }
}
