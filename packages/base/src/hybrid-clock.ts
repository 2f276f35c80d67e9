// Hybrid logical clock (Kulkarni et al. 2014): milliseconds that never step back, and a counter.
import { assert } from './assert.ts';
import { clockAheadMsMax } from './limits.ts';
import { makeStamp, type Stamp, stampCounter } from './stamp.ts';

const COUNTER_MAX = 0xffff;

/**
 * Clocks are passed in: the physical clock, the time that most servers agree on (default: the
 * physical clock), and by how many ms the physical clock is behind most servers' clocks (default:
 * 0). `device` breaks ties between clocks.
 */
export class HybridClock {
  readonly #physicalMs: () => number;
  readonly #agreedMs: () => number;
  readonly #behindMs: () => number;
  #ms = 0;
  #counter = 0;

  constructor(physicalMs: () => number, agreedMs: () => number = physicalMs, behindMs = () => 0) {
    this.#physicalMs = physicalMs;
    this.#agreedMs = agreedMs;
    this.#behindMs = behindMs;
  }

  /** A stamp above every stamp issued or observed here so far. */
  next(device: number): Stamp {
    const physical = this.#physicalMs();
    if (physical > this.#ms) {
      this.#ms = physical;
      this.#counter = 0;
    } else if (this.#counter === COUNTER_MAX) {
      this.#ms += 1;
      this.#counter = 0;
    } else {
      this.#counter += 1;
    }
    return makeStamp(this.#ms, this.#counter, device);
  }

  /**
   * The time by which records expire. It differs from the stamps' time, which writers can move
   * ahead by up to clockAheadMsMax.
   */
  nowMs(): number {
    return this.#agreedMs();
  }

  /** The time of this machine alone, for local measurements. */
  machineMs(): number {
    return this.#physicalMs();
  }

  /** Learns a stamp seen elsewhere (a peer's, a record's, the last one persisted). */
  observe(stamp: Stamp): void {
    assert(Number.isSafeInteger(stamp.ms), `stamp of ${stamp.ms} ms`);
    if (stamp.ms < this.#ms) return;
    const counter = stampCounter(stamp);
    this.#counter = stamp.ms > this.#ms ? counter : Math.max(this.#counter, counter);
    this.#ms = stamp.ms;
  }

  /**
   * Like `observe`, for a record's stamp. Returns false and learns nothing if the stamp is more
   * than clockAheadMsMax ahead of both this clock and most others: a wrong clock made it, and a
   * single such record would keep this server from issuing any stamp until that time.
   */
  learn(stamp: Stamp): boolean {
    if (this.aheadMs(stamp) - this.#behindMs() > clockAheadMsMax) return false;
    this.observe(stamp);
    return true;
  }

  /** How far the stamps known here are ahead of the physical clock, in ms; 0 if they are not. */
  stampsAheadMs(): number {
    return Math.max(0, this.#ms - this.#physicalMs());
  }

  /** How far the given stamp is ahead of the physical clock, in ms; negative when behind. */
  aheadMs(stamp: Stamp): number {
    return stamp.ms - this.#physicalMs();
  }
}
