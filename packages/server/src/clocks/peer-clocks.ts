// What the clocks of the other servers showed: by them a server notices that its own is the wrong
// one, before it stores a record under a stamp that nobody else will take for an hour.
import { CodedError } from '@ringwright/base/coded-error';
import { clockAgreesMs, clockAheadMsMax } from '@ringwright/base/limits';

export class PeerClocks {
  readonly #monotonicMs: () => number;
  /** What each clock shows, less the monotonic clock here. */
  readonly #offsets = new Map<string, number>();
  /** Between these two any clock here is the one in the middle of all, or the lower one of two. */
  #middle = { low: -Infinity, high: Infinity };
  /** The last time that was agreed on here. */
  #agreedMs = -Infinity;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Only of servers that a ring names and this one has called: others may say anything. */
  learn(address: string, ms: number): void {
    this.#offsets.set(address, ms - this.#monotonicMs());
    this.#findMiddle();
  }

  /** Forgets the clocks of servers that have left all rings. */
  keep(isNamed: (address: string) => boolean): void {
    for (const address of this.#offsets.keys()) {
      if (!isNamed(address)) this.#offsets.delete(address);
    }
    this.#findMiddle();
  }

  #findMiddle(): void {
    const latestFirst = [...this.#offsets.values()].sort((a, b) => b - a);
    const above = Math.floor((latestFirst.length + 1) / 2);
    this.#middle = {
      low: latestFirst[above] ?? -Infinity,
      high: latestFirst[above - 1] ?? Infinity,
    };
  }

  /**
   * The time in the middle of all clocks, this one counted among them: whatever less than half of
   * the servers say, it stays between what others say. Of two clocks the one behind. This machine's
   * is moved towards it by no more than brings it within clockAgreesMs, so that a small change of
   * another clock is a small change here, and by at most clockAheadMsMax.
   *
   * It never goes back, but stands still until the clocks are there: nothing that expired comes
   * back. Others move it by at most twice clockAheadMsMax; if it would stand still for longer, this
   * machine's clock was set back, and it follows.
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

  /** By how many whole ms `nowMs` is ahead of one clock; null when it was not heard yet. */
  aheadOf(address: string, nowMs: number): number | null {
    const offset = this.#offsets.get(address);
    return offset === undefined ? null : Math.ceil(nowMs - offset - this.#monotonicMs());
  }

  /**
   * By how many whole ms `nowMs` is ahead of most clocks, this one counted among them; 0 if it is
   * not.
   */
  aheadMs(nowMs: number): number {
    return this.#awayMs((offset) => nowMs - offset - this.#monotonicMs());
  }

  /** By how many whole ms it is behind them, likewise. */
  behindMs(nowMs: number): number {
    return this.#awayMs((offset) => offset + this.#monotonicMs() - nowMs);
  }

  /**
   * By how many whole ms it is ahead of most of them, or behind (then below 0); of two servers
   * ahead of the other one, since nobody knows which of them is wrong.
   */
  awayMs(nowMs: number): number {
    const [other] = this.#offsets.keys();
    if (this.#offsets.size === 1 && other !== undefined) return this.aheadOf(other, nowMs) ?? 0;
    return this.aheadMs(nowMs) - this.behindMs(nowMs);
  }

  #awayMs(awayOf: (offset: number) => number): number {
    const away = [...this.#offsets.values()].map(awayOf);
    const most = Math.floor((away.length + 1) / 2) + 1;
    return Math.max(0, Math.ceil(away.sort((a, b) => b - a)[most - 1] ?? 0));
  }

  /** Throws CLOCK_AHEAD: then nothing has been written. */
  check(nowMs: number): void {
    // Before every write: nothing is sorted as long as no clock at all says so.
    const latest = nowMs - this.#monotonicMs() - clockAheadMsMax;
    let isFine = true;
    for (const offset of this.#offsets.values()) if (offset < latest) isFine = false;
    const aheadMs = isFine ? 0 : this.aheadMs(nowMs);
    if (aheadMs <= clockAheadMsMax) return;
    throw new CodedError(
      'CLOCK_AHEAD',
      `the clock here lies ${aheadMs} ms ahead of most servers, ${clockAheadMsMax} is the most`,
      {
        hint: 'set the clock right, or write through another server',
        details: { aheadMs, outcome: 'rejected' },
      },
    );
  }
}
