// A nemesis: one kind of fault, repeated while clients work.
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '@ringwright/base/random';
import type { Stage } from './stage.ts';

/** Interval between checks of a condition: what faults cause takes longer. */
const LOOK_MS = 50;

export interface Nemesis {
  readonly name: string;
  /**
   * One fault from start to end: afterwards everything it broke is intact again. Ends early when
   * the signal is aborted. A fault counts as having happened when `stage.fault` records it.
   */
  readonly strike: (stage: Stage, random: Random, signal: AbortSignal) => Promise<void>;
  /** Whether it is a scenario: it brings its own operations, and no workers run meanwhile. */
  readonly isAlone?: boolean;
  /** Names of faults and failpoints that a long run must have to prove anything; absent: none. */
  readonly planned?: readonly string[];
  /** After all faults: completes what strikes began, and checks the result. */
  readonly prove?: (stage: Stage, withinMs: number) => Promise<Proof>;
}

export interface Proof {
  /** What is wrong, as sentences. */
  readonly troubles: readonly string[];
  /** Figures for the reader. */
  readonly notes: readonly string[];
}

/** A broken promise that a strike found: its message is the violation. */
export class Broken extends Error {}

/** Resolves after this time, or at once when the signal is aborted. */
export async function lasts(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, null, { signal }).catch(() => undefined);
}

/** Resolves when `isSo` holds, when the time is up, or when the signal is aborted. */
export async function until(
  signal: AbortSignal,
  isSo: () => boolean | Promise<boolean>,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!signal.aborted && performance.now() < deadline && !(await isSo())) {
    await lasts(LOOK_MS, signal);
  }
}
