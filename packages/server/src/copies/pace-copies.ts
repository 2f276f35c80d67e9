// How fast copies may go, how many at once, and how long they rest, so that requests do not suffer:
// halved when they do, slowly recovering.
// The control law, judged once per turn. Pure.
import {
  calmP99MsUnknown,
  copiesInMax,
  copyRateFloor,
  copyRateFree,
  copyRestMsMax,
  copyRestTimesCrowded,
  copyRestTimesMax,
  foregroundP99MsMax,
  loopDelayMsMax,
  paceCalmTurns,
  paceWindowTurns,
  processorSpareMin,
  processorSpareMuch,
} from '@ringwright/base/limits-copies';

export interface Pace {
  /** Bytes per second; null: not held back. */
  readonly rate: number | null;
  /** Files at once: small ones cost more for each than for their bytes. Null: not held back. */
  readonly loads: number | null;
  /** After a file nothing begins for so many times as long as it took; above 0: one at a time. */
  readonly restTimes: number;
  /** The 99th percentile while nothing was copied, in ms; null: not known yet. */
  readonly calmP99Ms: number | null;
  /** How late the event loop was while nothing was copied: others may have the processor. */
  readonly calmLoopMs: number;
  /** Turns for which it is not halved again: what is measured began before the last change. */
  readonly heldTurns: number;
  /** Turns since the last copy, counted up to paceCalmTurns. */
  readonly idleTurns: number;
}

export type LoadPace = Pick<Pace, 'loads' | 'restTimes'>;

export interface PaceSample {
  /** Of reads and writes on this device; null: too few to tell. */
  readonly p99Ms: number | null;
  /** How late the event loop came to its work. */
  readonly loopDelayMs: number;
  /** Of the processors of the machine, 0 to 1. */
  readonly idleShare: number;
  /** Given and taken since the last turn. */
  readonly copiedBytesPerSecond: number;
  /** Files were given up, which copies nothing. */
  readonly isGivingUp: boolean;
}

export const freePace: Pace = {
  rate: null,
  loads: null,
  restTimes: 0,
  calmP99Ms: null,
  calmLoopMs: 0,
  heldTurns: 0,
  idleTurns: paceCalmTurns,
};

/** What a turn adds to a rate, leaves of a rest, and the weight of a new figure in a calm one. */
const RECOVERY = 1.1;
const SHORTER_REST = 0.8;
const CALM_WEIGHT = 0.2;

export function nextPace(last: Pace, sample: PaceSample): Pace {
  // Nobody is there to be left the processor.
  const before = sample.p99Ms === null ? { ...last, restTimes: 0 } : last;
  const heldTurns = Math.max(0, before.heldTurns - 1);
  const { copiedBytesPerSecond: copied, isGivingUp } = sample;
  if (copied === 0 && !isGivingUp) return { ...idle(before, sample), heldTurns };
  const pace = { ...before, idleTurns: 0, heldTurns };
  if (!isStressed(pace, sample)) return { ...pace, ...goesWell(pace, sample) };
  if (heldTurns > 0) return pace;
  const rate = copied > 0 ? slower(pace, copied) : pace.rate;
  return { ...pace, rate, ...fewer(pace, sample), heldTurns: paceWindowTurns };
}

/**
 * Requests do not suffer. Where they have little of the processor left they soon would, before
 * anything here shows it: one file at a time, with the least rest, and nothing gets faster than
 * that before there is plenty.
 */
function goesWell(pace: Pace, sample: PaceSample): LoadPace & Pick<Pace, 'rate'> {
  const next = recovered(pace);
  if (!isCrowded(sample, processorSpareMuch)) return next;
  const isShort = isCrowded(sample, processorSpareMin);
  const least = isShort ? copyRestTimesCrowded : Math.min(pace.restTimes, copyRestTimesCrowded);
  const loads = isShort ? 1 : pace.loads;
  return { ...next, loads, restTimes: Math.max(next.restTimes, least) };
}

/** Half of what really went: a rate that nobody reached would have to be halved many times. */
function slower({ rate }: Pace, copied: number): number {
  return Math.max(Math.min(rate ?? copied, copied) / 2, copyRateFloor);
}

/** How long nothing begins after something that took so long. */
export function restMs({ restTimes }: LoadPace, tookMs: number): number {
  return Math.min(restTimes * tookMs, copyRestMsMax);
}

/**
 * A turn without copies. What requests suffer from in a gap, or shortly after, they suffer from
 * copies: it is not calm. Where there are requests, the next copies begin one at a time, and with
 * rests unless they have plenty of processor.
 */
function idle(pace: Pace, sample: PaceSample): Pace {
  const idleTurns = Math.min(pace.idleTurns + 1, paceCalmTurns);
  if (idleTurns === paceCalmTurns) {
    const loads = sample.p99Ms === null ? null : 1;
    const restTimes = isCrowded(sample, processorSpareMuch) ? copyRestTimesCrowded : 0;
    const { rate } = recovered(pace);
    return { ...pace, rate, ...learned(pace, sample), loads, restTimes, idleTurns };
  }
  return isStressed(pace, sample) || isCrowded(sample, processorSpareMuch)
    ? { ...pace, idleTurns }
    : { ...pace, ...recovered(pace), idleTurns };
}

/** Requests are served, and less than this share of the processors is left. */
function isCrowded({ p99Ms, idleShare }: PaceSample, spare: number): boolean {
  return p99Ms !== null && idleShare < spare;
}

/** Both may be twice what they are while nothing is copied: a slow disk is slow without copies. */
function isStressed({ calmP99Ms, calmLoopMs }: Pace, { p99Ms, loopDelayMs }: PaceSample): boolean {
  if (loopDelayMs > Math.max(loopDelayMsMax, 2 * calmLoopMs)) return true;
  const usualMs = calmP99Ms ?? calmP99MsUnknown;
  return p99Ms !== null && p99Ms > Math.max(foregroundP99MsMax, 2 * usualMs);
}

/**
 * Half as many at once, down to one; then one at a time with a rest that doubles. Where the
 * processor is short, so at once: each file less gives requests little of it back.
 */
function fewer({ loads, restTimes }: Pace, sample: PaceSample): LoadPace {
  if (loads !== 1 && !isCrowded(sample, processorSpareMin)) {
    return { loads: Math.max(1, Math.floor((loads ?? copiesInMax) / 2)), restTimes: 0 };
  }
  const longer = Math.max(2 * restTimes, copyRestTimesCrowded);
  return { loads: 1, restTimes: Math.min(longer, copyRestTimesMax) };
}

function recovered({ rate, loads, restTimes }: Pace): Pick<Pace, 'rate' | 'loads' | 'restTimes'> {
  const faster = rate === null || rate * RECOVERY >= copyRateFree ? null : rate * RECOVERY;
  const less = restTimes * SHORTER_REST;
  if (restTimes > 0) return { rate: faster, loads, restTimes: less < 1 ? 0 : less };
  const more = loads === null || loads + 1 >= copiesInMax ? null : loads + 1;
  return { rate: faster, loads: more, restTimes };
}

function learned(
  { calmP99Ms, calmLoopMs }: Pace,
  { p99Ms, loopDelayMs }: PaceSample,
): Pick<Pace, 'calmP99Ms' | 'calmLoopMs'> {
  const towards = (known: number, now: number): number => known + CALM_WEIGHT * (now - known);
  return {
    calmP99Ms: p99Ms === null ? calmP99Ms : towards(calmP99Ms ?? p99Ms, p99Ms),
    calmLoopMs: towards(calmLoopMs, loopDelayMs),
  };
}
