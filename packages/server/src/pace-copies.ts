// How fast copies may go, so that requests do not suffer: halved when they do, slowly recovering.
// The control law, judged once per turn. Pure.
import {
  copyRateFloor,
  copyRateFree,
  foregroundP99MsMax,
  loopDelayMsMax,
  paceWindowTurns,
} from '@ringwright/base/limits-copies';

export interface Pace {
  /** Bytes per second; null: not held back. */
  readonly rate: number | null;
  /** The 99th percentile while nothing was copied, in ms; null: not known yet. */
  readonly calmP99Ms: number | null;
  /** How late the event loop was while nothing was copied: others may have the processor. */
  readonly calmLoopMs: number;
  /** Turns for which it is not halved again: what is measured began before the last change. */
  readonly heldTurns: number;
}

export interface PaceSample {
  /** Of reads and writes on this device; null: too few to tell. */
  readonly p99Ms: number | null;
  /** How late the event loop came to its work. */
  readonly loopDelayMs: number;
  /** Given and taken since the last turn. */
  readonly copiedBytesPerSecond: number;
}

export const freePace: Pace = { rate: null, calmP99Ms: null, calmLoopMs: 0, heldTurns: 0 };

/** What a turn adds to a rate, and the weight of a new figure in the calm percentile. */
const RECOVERY = 1.1;
const CALM_WEIGHT = 0.2;

export function nextPace(pace: Pace, sample: PaceSample): Pace {
  const heldTurns = Math.max(0, pace.heldTurns - 1);
  const { copiedBytesPerSecond: copied } = sample;
  if (copied === 0) {
    return { rate: recovered(pace.rate), ...learned(pace, sample), heldTurns };
  }
  if (!isStressed(pace, sample)) {
    return { ...pace, rate: recovered(pace.rate), heldTurns };
  }
  if (heldTurns > 0) return { ...pace, heldTurns };
  // Half of what really went: a rate that nobody reached would have to be halved many times.
  const half = Math.min(pace.rate ?? copied, copied) / 2;
  return { ...pace, rate: Math.max(half, copyRateFloor), heldTurns: paceWindowTurns };
}

/** Both may be twice what they are while nothing is copied: a slow disk is slow without copies. */
function isStressed({ calmP99Ms, calmLoopMs }: Pace, { p99Ms, loopDelayMs }: PaceSample): boolean {
  if (loopDelayMs > Math.max(loopDelayMsMax, 2 * calmLoopMs)) return true;
  return p99Ms !== null && p99Ms > Math.max(foregroundP99MsMax, 2 * (calmP99Ms ?? 0));
}

function recovered(rate: number | null): number | null {
  if (rate === null) return null;
  const more = rate * RECOVERY;
  return more >= copyRateFree ? null : more;
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
