// How fast this device gives and takes copies: what the operator allows or a rollout lends, and
// less while requests suffer. Holds the throttles of both directions.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { CodedError } from '@ringwright/base/coded-error';
import {
  copyLoanMs,
  copyLoansMax,
  loopDelayResolutionMs,
  throttleRequestsMin,
  throttleRoundMs,
  throttleWindowRounds,
} from '@ringwright/base/limits-copies';
import type { MaybePromise } from '@ringwright/base/maybe-promise';
import { monotonicMs } from '@ringwright/node/system-clock';
import type { Store } from '@ringwright/partition/store';
import { LatencyWindow } from '../telemetry/latency-window.ts';
import { CopyThrottle } from './copy-throttle.ts';
import { freeThrottle, type LoadThrottle, nextThrottle } from './throttle-control.ts';

interface AdaptiveThrottlePorts {
  /** A clock that never steps back. */
  readonly monotonicMs: () => number;
  /** Delay of the event loop since the last call. */
  readonly loopDelayMs: () => number;
  /** Passes the operator's rate to the helper processes, which yield to requests by themselves. */
  readonly onAllowed: (rate: number | null) => void;
}

/** Rates in bytes per second, per direction; null: no limit. */
export interface AdaptiveThrottleStatus {
  readonly allowed: number | null;
  /** Milliseconds until `allowed` is the server's own rate again; null: no loan is in force. */
  readonly lentMs: number | null;
  /** At most `allowed`; lower while requests suffer. */
  readonly inForce: number | null;
  /**
   * Files given, and files taken, at once while requests suffer; null: as many as the limits allow.
   */
  readonly loads: number | null;
  /** Length of the pause after a file, as a multiple of the time the file took. */
  readonly restTimes: number;
  /** 99th percentile of recent reads and writes on this device; null: too few to tell. */
  readonly foregroundP99Ms: number | null;
}

interface Held {
  readonly throttle: CopyThrottle;
  readonly loadThrottle: () => LoadThrottle;
}

export class AdaptiveThrottle {
  readonly incoming: CopyThrottle;
  readonly outgoing: CopyThrottle;
  readonly #ports: AdaptiveThrottlePorts;
  readonly #latency = new LatencyWindow(throttleWindowRounds);
  /** Requests that have begun and not ended. */
  #underWay = 0;
  readonly #startRate: number | null;
  /** The server's own rate, which counts while no loan is in force. */
  #ownRate: number | null;
  #loans: CopyLoans = new Map();
  #state = freeThrottle;
  #hasDrained = false;
  #reportedRate: number | null = null;

  /** `rate`: the rate that the server was started with. */
  constructor(ports: AdaptiveThrottlePorts, rate: number | null) {
    this.#ports = ports;
    this.#startRate = rate;
    this.#ownRate = rate;
    this.incoming = new CopyThrottle(ports.monotonicMs);
    this.outgoing = new CopyThrottle(ports.monotonicMs);
    this.#apply();
  }

  /** Makes a throttle that also slows down when the event loop of this process is late. */
  static of({ copies }: Pick<Store, 'copies'>, rate: number | null): AdaptiveThrottle {
    const delay = monitorEventLoopDelay({ resolution: loopDelayResolutionMs });
    delay.enable();
    const loopDelayMs = (): number => {
      // The monitor measures the time between two of its timers.
      const lateMs = delay.percentile(99) / 1e6 - loopDelayResolutionMs;
      delay.reset();
      return lateMs;
    };
    return new AdaptiveThrottle({ monotonicMs, loopDelayMs, onAllowed: copies.setRate }, rate);
  }

  /**
   * Sets the rate until the process ends, and overrules present loans; null: the rate of the start.
   */
  allow(rate: number | null): void {
    this.#ownRate = rate ?? this.#startRate;
    this.#loans = overruled(this.#loans);
    this.#apply();
  }

  /** Sets the rate until the loan ends; null ends the loan. Throws VALUE_OUT_OF_RANGE. */
  lend(loan: string, rate: number | null): void {
    this.#loans = withLoan(this.#loans, { loan, rate }, this.#ports.monotonicMs());
    this.#apply();
  }

  /** Returns `work`, and counts the time it takes as that of a request. */
  timed<Answer>(work: MaybePromise<Answer>): MaybePromise<Answer> {
    if (!(work instanceof Promise)) {
      this.#latency.add(0);
      return work;
    }
    const end = this.begin();
    work.then(end, end);
    return work;
  }

  /** To be called when a request begins. Call the returned function when the request has ended. */
  begin(): () => void {
    const startedMs = this.#ports.monotonicMs();
    this.#underWay += 1;
    return () => {
      this.#underWay -= 1;
      this.#latency.add(this.#ports.monotonicMs() - startedMs);
    };
  }

  /** To be called every throttleRoundMs. */
  round(): void {
    const copied = this.incoming.passedBytes() + this.outgoing.passedBytes();
    this.#state = nextThrottle(this.#state, {
      p99Ms: this.#latency.p99Ms(throttleRequestsMin),
      areUnderWay: this.#underWay > 0,
      loopDelayMs: this.#ports.loopDelayMs(),
      copiedBytesPerSecond: (copied * 1_000) / throttleRoundMs,
      hasDrained: this.#hasDrained,
    });
    this.#hasDrained = false;
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

  /** The throttle of loads and drains here; `giving` is that of copies for other devices. */
  get taking(): Held & { readonly onDrainEnded: () => void } {
    const onDrainEnded = (): void => void (this.#hasDrained = true);
    return { throttle: this.incoming, loadThrottle: () => this.#state, onDrainEnded };
  }

  get giving(): Held {
    return { throttle: this.outgoing, loadThrottle: () => this.#state };
  }

  /** Ends all waiting. */
  close(): void {
    this.incoming.close();
    this.outgoing.close();
  }

  #loan(): CopyLoan | null {
    return loanInForce(this.#loans, this.#ports.monotonicMs());
  }

  #allowed(): number | null {
    const loan = this.#loan();
    return loan === null ? this.#ownRate : loan.rate;
  }

  #inForce(): number | null {
    const { rate } = this.#state;
    const allowed = this.#allowed();
    if (rate === null || allowed === null) return rate ?? allowed;
    return Math.min(rate, allowed);
  }

  #apply(): void {
    const rate = this.#inForce();
    this.incoming.setRate(rate);
    this.outgoing.setRate(rate);
    const allowed = this.#allowed();
    if (allowed === this.#reportedRate) return;
    this.#reportedRate = allowed;
    this.#ports.onAllowed(allowed);
  }
}

/**
 * A rate that a rollout lends this server. It ends by itself unless its rollout says it again: one
 * that was killed, or lost the line, throttles nobody for good.
 */
interface CopyLoan {
  /** Bytes per second, per direction. */
  readonly rate: number;
  readonly endsMs: number;
  /**
   * An operator has set a rate since, which takes precedence: renewing the loan does not change
   * that.
   */
  readonly isOverruled: boolean;
}

/** By the name that the rollout chose for its loan. */
type CopyLoans = ReadonlyMap<string, CopyLoan>;

/**
 * Adds or renews a loan; `rate` null ends it. Throws VALUE_OUT_OF_RANGE if there are too many
 * others.
 */
function withLoan(
  loans: CopyLoans,
  { loan, rate }: { readonly loan: string; readonly rate: number | null },
  nowMs: number,
): CopyLoans {
  const others = [...loans].filter(([name, { endsMs }]) => name !== loan && endsMs > nowMs);
  if (rate === null) return new Map(others);
  if (others.length >= copyLoansMax) {
    const message = `${others.length} rollouts lend a rate here; the maximum is ${copyLoansMax}`;
    throw new CodedError('VALUE_OUT_OF_RANGE', message);
  }
  const isOverruled = loans.get(loan)?.isOverruled ?? false;
  return new Map([...others, [loan, { rate, endsMs: nowMs + copyLoanMs, isOverruled }]]);
}

function overruled(loans: CopyLoans): CopyLoans {
  return new Map([...loans].map(([name, loan]) => [name, { ...loan, isOverruled: true }]));
}

/**
 * Returns the loan with the lowest rate that is in force; null: none is, so the server's own rate
 * counts.
 */
function loanInForce(loans: CopyLoans, nowMs: number): CopyLoan | null {
  const all = [...loans.values()].filter(
    ({ endsMs, isOverruled }) => endsMs > nowMs && !isOverruled,
  );
  return all.toSorted((a, b) => a.rate - b.rate)[0] ?? null;
}
