// How fast copies may go, how many at once, and how long they wait: halved while requests suffer,
// then slowly recovering. Judged once a round.
import {
  calmP99MsUnknown,
  copiesInMax,
  copyCooldownMsMax,
  copyCooldownTimesFirst,
  copyCooldownTimesMax,
  copyRateFloor,
  copyRateFree,
  foregroundP99MsMax,
  loopDelayMsMax,
  throttleCalmRounds,
  throttleWindowRounds,
} from '@ringwright/base/limits-copies';

export interface ThrottleState {
  /** Bytes per second; null: not held back. */
  readonly rate: number | null;
  /** Files at once, because small files cost more per file than per byte. Null: not held back. */
  readonly loads: number | null;
  /**
   * Length of the pause after a file, as a multiple of the time it took. Above 0: one file at a
   * time.
   */
  readonly cooldownTimes: number;
  /** The 99th percentile while nothing was copied, in ms; null: not known yet. */
  readonly calmP99Ms: number | null;
  /** Delay of the event loop while nothing was copied: other programs may use the processor. */
  readonly calmLoopMs: number;
  /** Rounds without another halving, because the measurements began before the last change. */
  readonly heldRounds: number;
  /** Rounds since the last copy, counted up to throttleCalmRounds. */
  readonly idleRounds: number;
}

export type LoadThrottle = Pick<ThrottleState, 'loads' | 'cooldownTimes'>;

export interface ThrottleSample {
  /** Of reads and writes on this device; null: too few to tell. */
  readonly p99Ms: number | null;
  /** Whether reads or writes are in flight. When a disk hangs, few end although many wait. */
  readonly areUnderWay: boolean;
  /** Delay of the event loop. */
  readonly loopDelayMs: number;
  /** Bytes given and taken since the last round. */
  readonly copiedBytesPerSecond: number;
  /** Whether files were drained, which copies nothing. */
  readonly hasDrained: boolean;
}

export const freeThrottle: ThrottleState = {
  rate: null,
  loads: null,
  cooldownTimes: 0,
  calmP99Ms: null,
  calmLoopMs: 0,
  heldRounds: 0,
  idleRounds: throttleCalmRounds,
};

/**
 * Per round: factor on the rate, factor on the cooldown, and weight of a new figure in a calm one.
 */
const RECOVERY = 1.1;
const SHORTER_COOLDOWN = 0.8;
const CALM_WEIGHT = 0.2;

export function nextThrottle(last: ThrottleState, sample: ThrottleSample): ThrottleState {
  // Without requests nothing is held back, unless the event loop is late.
  const { p99Ms, areUnderWay } = sample;
  const isAlone = p99Ms === null && !areUnderWay && !isStressed(last, sample);
  const before = isAlone ? { ...last, rate: null, loads: null, cooldownTimes: 0 } : last;
  const heldRounds = Math.max(0, before.heldRounds - 1);
  const { copiedBytesPerSecond: copied, hasDrained } = sample;
  if (copied === 0 && !hasDrained) return { ...idle(before, sample), heldRounds };
  const state = { ...before, idleRounds: 0, heldRounds };
  if (!isStressed(state, sample)) return { ...state, ...recovered(state) };
  if (heldRounds > 0) return state;
  const rate = copied > 0 ? slower(state, copied) : state.rate;
  return { ...state, rate, ...fewer(state), heldRounds: throttleWindowRounds };
}

/**
 * Returns half of the rate that was reached: a limit above it would have to be halved many times.
 */
function slower({ rate }: ThrottleState, copied: number): number {
  return Math.max(Math.min(rate ?? copied, copied) / 2, copyRateFloor);
}

/** Returns how long nothing begins after work that took `tookMs`. */
export function cooldownMs({ cooldownTimes }: LoadThrottle, tookMs: number): number {
  return Math.min(cooldownTimes * tookMs, copyCooldownMsMax);
}

/**
 * The next state after a round without copies. Requests that suffer in a gap or shortly after it
 * suffer from copies, so that time is not calm. Where there are requests, the next copies begin one
 * at a time.
 */
function idle(state: ThrottleState, sample: ThrottleSample): ThrottleState {
  const idleRounds = Math.min(state.idleRounds + 1, throttleCalmRounds);
  if (idleRounds === throttleCalmRounds) {
    const loads = sample.p99Ms === null ? null : 1;
    const { rate } = recovered(state);
    return { ...state, rate, ...learned(state, sample), loads, cooldownTimes: 0, idleRounds };
  }
  return isStressed(state, sample)
    ? { ...state, idleRounds }
    : { ...state, ...recovered(state), idleRounds };
}

/** Each figure may be twice its calm value: a slow disk is slow without copies too. */
function isStressed(
  { calmP99Ms, calmLoopMs }: ThrottleState,
  { p99Ms, loopDelayMs }: ThrottleSample,
): boolean {
  if (loopDelayMs > Math.max(loopDelayMsMax, 2 * calmLoopMs)) return true;
  const usualMs = calmP99Ms ?? calmP99MsUnknown;
  return p99Ms !== null && p99Ms > Math.max(foregroundP99MsMax, 2 * usualMs);
}

/** Half as many at once, down to one; then one at a time with a cooldown that doubles. */
function fewer({ loads, cooldownTimes }: ThrottleState): LoadThrottle {
  if (loads !== 1) {
    return { loads: Math.max(1, Math.floor((loads ?? copiesInMax) / 2)), cooldownTimes: 0 };
  }
  const longer = Math.max(2 * cooldownTimes, copyCooldownTimesFirst);
  return { loads: 1, cooldownTimes: Math.min(longer, copyCooldownTimesMax) };
}

function recovered({
  rate,
  loads,
  cooldownTimes,
}: ThrottleState): Pick<ThrottleState, 'rate' | 'loads' | 'cooldownTimes'> {
  const faster = rate === null || rate * RECOVERY >= copyRateFree ? null : rate * RECOVERY;
  const less = cooldownTimes * SHORTER_COOLDOWN;
  if (cooldownTimes > 0) return { rate: faster, loads, cooldownTimes: less < 1 ? 0 : less };
  const more = loads === null || loads + 1 >= copiesInMax ? null : loads + 1;
  return { rate: faster, loads: more, cooldownTimes };
}

function learned(
  { calmP99Ms, calmLoopMs }: ThrottleState,
  { p99Ms, loopDelayMs }: ThrottleSample,
): Pick<ThrottleState, 'calmP99Ms' | 'calmLoopMs'> {
  const towards = (known: number, now: number): number => known + CALM_WEIGHT * (now - known);
  return {
    calmP99Ms: p99Ms === null ? calmP99Ms : towards(calmP99Ms ?? p99Ms, p99Ms),
    calmLoopMs: towards(calmLoopMs, loopDelayMs),
  };
}

export interface CooldownPorts {
  /** How far such work is held back now for the sake of requests. */
  readonly loadThrottle: () => LoadThrottle;
  /** A clock that never steps back. */
  readonly monotonicMs: () => number;
}

/** The time after work with files in which nothing of its kind begins: requests have the processor. */
export class Cooldown {
  readonly #ports: CooldownPorts;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(ports: CooldownPorts) {
    this.#ports = ports;
  }

  /** No work begins before this time. If it is in the past, work may begin. */
  get untilMs(): number {
    return this.#untilMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#untilMs - this.#ports.monotonicMs());
  }

  /**
   * To be called when work that began at `startedMs` has ended, well or not. A longer cooldown of
   * other work stays in force.
   */
  after(startedMs: number): void {
    const nowMs = this.#ports.monotonicMs();
    const untilMs = nowMs + cooldownMs(this.#ports.loadThrottle(), nowMs - startedMs);
    this.#untilMs = Math.max(this.#untilMs, untilMs);
  }
}
