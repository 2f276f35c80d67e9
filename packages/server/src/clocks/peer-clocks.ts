// What the clocks of the other servers have shown. By them a server notices that its own clock is
// wrong, before it stores a record under a stamp that no other device will take for an hour.
import { CodedError } from '@ringwright/base/coded-error';
import { clockAgreesMs, clockAheadMsMax } from '@ringwright/base/limits';

export class PeerClocks {
  readonly #monotonicMs: () => number;
  /** What each clock shows, minus the monotonic clock here. */
  readonly #offsets = new Map<string, number>();
  /**
   * If a clock here lies between these bounds, it is the median of all clocks, or the slower of
   * two.
   */
  #middle = { low: -Infinity, high: Infinity };
  /** The last agreed time returned here. */
  #agreedMs = -Infinity;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * To be called only for servers that a ring names and this server has called: others may claim
   * anything.
   */
  learn(address: string, ms: number): void {
    this.#offsets.set(address, ms - this.#monotonicMs());
    this.#findMedian();
  }

  /** Forgets the clocks of servers that have left all rings. */
  keep(isNamed: (address: string) => boolean): void {
    for (const address of this.#offsets.keys()) {
      if (!isNamed(address)) this.#offsets.delete(address);
    }
    this.#findMedian();
  }

  #findMedian(): void {
    const latestFirst = [...this.#offsets.values()].sort((a, b) => b - a);
    const above = Math.floor((latestFirst.length + 1) / 2);
    this.#middle = {
      low: latestFirst[above] ?? -Infinity,
      high: latestFirst[above - 1] ?? Infinity,
    };
  }

  /**
   * Returns the agreed time, derived from the median of all clocks, this one included: fewer than
   * half of the servers cannot move it beyond what the others show. Of two clocks the slower one
   * counts. This machine's time is moved toward the median only as far as brings it within
   * clockAgreesMs, so that a small change of another clock is a small change here, and by at most
   * clockAheadMsMax.
   *
   * The result never goes back, so that nothing that has expired returns: it stands still until the
   * clocks have caught up. Other clocks move it by at most twice clockAheadMsMax. If it would have
   * to stand still for longer, this machine's clock was set back, and the result follows it.
   */
  agreedMs(nowMs: number): number {
    const nextMs = nowMs + this.#correctionMs(nowMs);
    const backMs = this.#agreedMs - nextMs;
    if (backMs <= 0 || backMs > 2 * clockAheadMsMax) this.#agreedMs = nextMs;
    return this.#agreedMs;
  }

  #correctionMs(nowMs: number): number {
    const monotonicMs = this.#monotonicMs();
    const { low, high } = this.#middle;
    const aheadMs = Math.min(Math.max(nowMs, low + monotonicMs), high + monotonicMs) - nowMs;
    const beyondMs = Math.min(Math.abs(aheadMs) - clockAgreesMs, clockAheadMsMax);
    return beyondMs <= 0 ? 0 : Math.sign(aheadMs) * Math.round(beyondMs);
  }

  /**
   * Returns by how many whole ms `nowMs` is ahead of one clock; null if that clock is not known
   * yet.
   */
  aheadOf(address: string, nowMs: number): number | null {
    const offset = this.#offsets.get(address);
    return offset === undefined ? null : Math.ceil(nowMs - offset - this.#monotonicMs());
  }

  /**
   * Returns by how many whole ms `nowMs` is ahead of most clocks, this one included; 0 if it is
   * not.
   */
  aheadMs(nowMs: number): number {
    return this.#differenceMs((offset) => nowMs - offset - this.#monotonicMs());
  }

  /** Returns by how many whole ms `nowMs` is behind most clocks; 0 if it is not. */
  behindMs(nowMs: number): number {
    return this.#differenceMs((offset) => offset + this.#monotonicMs() - nowMs);
  }

  /**
   * Returns by how many whole ms `nowMs` is ahead of most clocks, or behind them (negative). Of two
   * servers each reports the difference to the other, since nobody knows which clock is wrong.
   */
  awayMs(nowMs: number): number {
    const [other] = this.#offsets.keys();
    if (this.#offsets.size === 1 && other !== undefined) return this.aheadOf(other, nowMs) ?? 0;
    return this.aheadMs(nowMs) - this.behindMs(nowMs);
  }

  #differenceMs(differenceOf: (offset: number) => number): number {
    const differences = [...this.#offsets.values()].map(differenceOf);
    const majority = Math.floor((differences.length + 1) / 2) + 1;
    return Math.max(0, Math.ceil(differences.sort((a, b) => b - a)[majority - 1] ?? 0));
  }

  /** Throws CLOCK_AHEAD; nothing has been written then. */
  check(nowMs: number): void {
    // Runs before every write, so nothing is sorted unless some clock is that far behind.
    const latest = nowMs - this.#monotonicMs() - clockAheadMsMax;
    let isFine = true;
    for (const offset of this.#offsets.values()) if (offset < latest) isFine = false;
    const aheadMs = isFine ? 0 : this.aheadMs(nowMs);
    if (aheadMs <= clockAheadMsMax) return;
    const what = `the clock here is ${aheadMs} ms ahead of most servers`;
    const message = `${what}; the maximum is ${clockAheadMsMax}`;
    throw new CodedError('CLOCK_AHEAD', message, {
      hint: 'correct the clock, or write through another server',
      details: { aheadMs, outcome: 'rejected' },
    });
  }
}
