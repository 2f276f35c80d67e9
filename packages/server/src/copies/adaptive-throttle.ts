// How fast this device gives and takes copies: what the operator allows, and less while requests
// suffer. Holds the throttles of both directions.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  loopDelayResolutionMs,
  throttleRequestsMin,
  throttleRoundMs,
  throttleWindowRounds,
} from '@ringwright/base/limits-copies';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import type { Store } from '@ringwright/partition/store';
import { LatencyWindow } from '../telemetry/latency-window.ts';
import { type CopyLoan, type CopyLoans, loanInForce, overruled, withLoan } from './copy-loans.ts';
import { CopyThrottle } from './copy-throttle.ts';
import { freeThrottle, type LoadThrottle, nextThrottle } from './throttle-control.ts';

interface AdaptiveThrottlePorts {
  /** Of a clock that never steps back. */
  readonly monotonicMs: () => number;
  /** How late the event loop came to its work since the last call. */
  readonly loopDelayMs: () => number;
  /** For processes that stand back by themselves: what the operator allows, in each direction. */
  readonly onAllowed: (rate: number | null) => void;
}

/** Rates in bytes per second and direction; null: no limit. */
export interface AdaptiveThrottleStatus {
  readonly allowed: number | null;
  /** Milliseconds until `allowed` is the server's own rate again; null: it is that now. */
  readonly lentMs: number | null;
  /** At most `allowed`; lower while requests suffer. */
  readonly inForce: number | null;
  /** Files given at once, and taken, while requests suffer; null: as many as the limits say. */
  readonly loads: number | null;
  /** After a file nothing begins for so many times as long as it took. */
  readonly restTimes: number;
  /** 99th percentile of reads and writes on this device lately; null: too few to tell. */
  readonly foregroundP99Ms: number | null;
}

interface Held {
  readonly throttle: CopyThrottle;
  readonly loadThrottle: () => LoadThrottle;
}

export class AdaptiveThrottle {
  readonly taken: CopyThrottle;
  readonly given: CopyThrottle;
  readonly #ports: AdaptiveThrottlePorts;
  readonly #latency = new LatencyWindow(throttleWindowRounds);
  /** Requests that have begun and not ended. */
  #underWay = 0;
  readonly #startedWith: number | null;
  /** The server's own, which counts when nobody lends one. */
  #own: number | null;
  #loans: CopyLoans = new Map();
  #state = freeThrottle;
  #isGivingUp = false;
  #told: number | null = null;

  /** `rate`: what the server was started with. */
  constructor(ports: AdaptiveThrottlePorts, rate: number | null) {
    this.#ports = ports;
    this.#startedWith = rate;
    this.#own = rate;
    this.taken = new CopyThrottle(ports.monotonicMs);
    this.given = new CopyThrottle(ports.monotonicMs);
    this.#apply();
  }

  /** It also gives way when the event loop of this process is late. */
  static of({ copies }: Pick<Store, 'copies'>, rate: number | null): AdaptiveThrottle {
    const delay = monitorEventLoopDelay({ resolution: loopDelayResolutionMs });
    delay.enable();
    const loopDelayMs = (): number => {
      // What it measures is the time between two of its timers.
      const lateMs = delay.percentile(99) / 1e6 - loopDelayResolutionMs;
      delay.reset();
      return lateMs;
    };
    const monotonicMs = (): number => performance.now();
    return new AdaptiveThrottle({ monotonicMs, loopDelayMs, onAllowed: copies.setRate }, rate);
  }

  /** For this life of the process, whatever is lent; null: what the server was started with. */
  allow(rate: number | null): void {
    this.#own = rate ?? this.#startedWith;
    this.#loans = overruled(this.#loans);
    this.#apply();
  }

  /** Until it ends, or with null ends here. Throws VALUE_OUT_OF_RANGE. */
  lend(loan: string, rate: number | null): void {
    this.#loans = withLoan(this.#loans, { loan, rate }, this.#ports.monotonicMs());
    this.#apply();
  }

  /** The same work, with the time it takes counted as that of a request. */
  timed<Answer>(work: MaybePromise<Answer>): MaybePromise<Answer> {
    if (!(work instanceof Promise)) {
      this.#latency.add(0);
      return work;
    }
    const end = this.begin();
    work.then(end, end);
    return work;
  }

  /** A request begins; to be called when it has ended. */
  begin(): () => void {
    const begunMs = this.#ports.monotonicMs();
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
      this.#latency.add(this.#ports.monotonicMs() - begunMs);
    };
  }

  /** To be called every throttleRoundMs. */
  round(): void {
    const copied = this.taken.passedBytes() + this.given.passedBytes();
    this.#state = nextThrottle(this.#state, {
      p99Ms: this.#latency.p99Ms(throttleRequestsMin),
      areUnderWay: this.#underWay > 0,
      loopDelayMs: this.#ports.loopDelayMs(),
      copiedBytesPerSecond: (copied * 1_000) / throttleRoundMs,
      isGivingUp: this.#isGivingUp,
    });
    this.#isGivingUp = false;
    this.#latency.round();
    this.#apply();
  }

  status(): AdaptiveThrottleStatus {
    const foregroundP99Ms = this.#latency.p99Ms(throttleRequestsMin);
    const { loads, cooldownTimes } = this.#state;
    const [loan, inForce] = [this.#loan(), this.#inForce()];
    const lentMs = loan === null ? null : Math.ceil(loan.endsMs - this.#ports.monotonicMs());
    const allowed = this.#allowed();
    return { allowed, lentMs, inForce, loads, restTimes: cooldownTimes, foregroundP99Ms };
  }

  /** What holds loads and drains back here, and copies for others. */
  get taking(): Held & { readonly onGivenUp: () => void } {
    const onGivenUp = (): void => void (this.#isGivingUp = true);
    return { throttle: this.taken, loadThrottle: () => this.#state, onGivenUp };
  }

  get giving(): Held {
    return { throttle: this.given, loadThrottle: () => this.#state };
  }

  /** Nobody waits any longer. */
  close(): void {
    this.taken.close();
    this.given.close();
  }

  #loan(): CopyLoan | null {
    return loanInForce(this.#loans, this.#ports.monotonicMs());
  }

  #allowed(): number | null {
    const loan = this.#loan();
    return loan === null ? this.#own : loan.rate;
  }

  #inForce(): number | null {
    const { rate } = this.#state;
    const allowed = this.#allowed();
    if (rate === null || allowed === null) return rate ?? allowed;
    return Math.min(rate, allowed);
  }

  #apply(): void {
    const rate = this.#inForce();
    this.taken.setRate(rate);
    this.given.setRate(rate);
    const allowed = this.#allowed();
    if (allowed === this.#told) return;
    this.#told = allowed;
    this.#ports.onAllowed(allowed);
  }
}
