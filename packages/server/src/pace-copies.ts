// How fast copies may go, and how many at once, so that requests do not suffer: halved when they
// do, slowly recovering.
// The control law, judged once per turn. Pure.
import {
  copiesInMax,
  copyGapMsMax,
  copyGapMsMin,
  copyRateFloor,
  copyRateFree,
  foregroundP99MsMax,
  loopDelayMsMax,
  paceCalmTurns,
  paceWindowTurns,
} from '@ringwright/base/limits-copies';

export interface Pace {
  /** Bytes per second; null: not held back. */
  readonly rate: number | null;
  /** Files at once: small ones cost more for each than for their bytes. Null: not held back. */
  readonly loads: number | null;
  /** From the begin of one to the next; above 0 only where one at a time is too much. */
  readonly gapMs: number;
  /** The 99th percentile while nothing was copied, in ms; null: not known yet. */
  readonly calmP99Ms: number | null;
  /** How late the event loop was while nothing was copied: others may have the processor. */
  readonly calmLoopMs: number;
  /** Turns for which it is not halved again: what is measured began before the last change. */
  readonly heldTurns: number;
  /** Turns since the last copy, counted up to paceCalmTurns. */
  readonly idleTurns: number;
}

export type LoadPace = Pick<Pace, 'loads' | 'gapMs'>;

export interface PaceSample {
  /** Of reads and writes on this device; null: too few to tell. */
  readonly p99Ms: number | null;
  /** How late the event loop came to its work. */
  readonly loopDelayMs: number;
  /** Given and taken since the last turn. */
  readonly copiedBytesPerSecond: number;
}

export const freePace: Pace = {
  rate: null,
  loads: null,
  gapMs: 0,
  calmP99Ms: null,
  calmLoopMs: 0,
  heldTurns: 0,
  idleTurns: paceCalmTurns,
};

/** What a turn adds to a rate, and the weight of a new figure in the calm percentile. */
const RECOVERY = 1.1;
const CALM_WEIGHT = 0.2;

export function nextPace(before: Pace, sample: PaceSample): Pace {
  const heldTurns = Math.max(0, before.heldTurns - 1);
  const { copiedBytesPerSecond: copied } = sample;
  if (copied === 0) return { ...idle(before, sample), heldTurns };
  const pace = { ...before, idleTurns: 0, heldTurns };
  if (!isStressed(pace, sample)) return { ...pace, ...recovered(pace) };
  if (heldTurns > 0) return pace;
  // Half of what really went: a rate that nobody reached would have to be halved many times.
  const half = Math.min(pace.rate ?? copied, copied) / 2;
  const rate = Math.max(half, copyRateFloor);
  return { ...pace, rate, ...fewer(pace), heldTurns: paceWindowTurns };
}

/**
 * A turn without copies. What requests suffer from in a gap, or shortly after, they suffer from
 * copies: it is not calm. Where there are requests, the next copies begin one at a time.
 */
function idle(pace: Pace, sample: PaceSample): Pace {
  const idleTurns = Math.min(pace.idleTurns + 1, paceCalmTurns);
  if (idleTurns === paceCalmTurns) {
    const loads = sample.p99Ms === null ? null : 1;
    return { ...pace, ...recovered(pace), ...learned(pace, sample), loads, idleTurns };
  }
  return isStressed(pace, sample)
    ? { ...pace, idleTurns }
    : { ...pace, ...recovered(pace), idleTurns };
}

/** Both may be twice what they are while nothing is copied: a slow disk is slow without copies. */
function isStressed({ calmP99Ms, calmLoopMs }: Pace, { p99Ms, loopDelayMs }: PaceSample): boolean {
  if (loopDelayMs > Math.max(loopDelayMsMax, 2 * calmLoopMs)) return true;
  return p99Ms !== null && p99Ms > Math.max(foregroundP99MsMax, 2 * (calmP99Ms ?? 0));
}

/** Half as many at once, down to one; then one at a time with a gap that doubles. */
function fewer({ loads, gapMs }: Pace): Pick<Pace, 'loads' | 'gapMs'> {
  const half = Math.max(1, Math.floor((loads ?? copiesInMax) / 2));
  if (loads !== 1) return { loads: half, gapMs: 0 };
  return { loads, gapMs: Math.min(Math.max(2 * gapMs, copyGapMsMin), copyGapMsMax) };
}

function recovered({ rate, loads, gapMs }: Pace): Pick<Pace, 'rate' | 'loads' | 'gapMs'> {
  const faster = rate === null || rate * RECOVERY >= copyRateFree ? null : rate * RECOVERY;
  if (gapMs > 0) return { rate: faster, loads, gapMs: gapMs > copyGapMsMin ? gapMs / 2 : 0 };
  const more = loads === null || loads + 1 >= copiesInMax ? null : loads + 1;
  return { rate: faster, loads: more, gapMs };
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
