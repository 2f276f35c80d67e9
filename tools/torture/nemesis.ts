// A nemesis: one kind of fault, done again and again while clients work.
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '@ringwright/base/random';
import type { Stage } from './stage.ts';

/** Between two looks at servers: what faults bring about takes longer. */
const LOOK_MS = 50;

export interface Nemesis {
  readonly name: string;
  /**
   * One fault from its beginning to its end: afterwards everything it broke is whole again. Ends
   * early when the signal is aborted. What is noted by `stage.fault` counts as having happened.
   */
  readonly strike: (stage: Stage, random: Random, signal: AbortSignal) => Promise<void>;
  /** A scenario: it brings its own operations, and nobody else works meanwhile. */
  readonly isAlone?: boolean;
  /** Names of faults and failpoints without which a long run proves little; absent: none. */
  readonly planned?: readonly string[];
  /** After all faults: brings to its end what strikes began, and looks at what has become of it. */
  readonly prove?: (stage: Stage, withinMs: number) => Promise<Proof>;
}

export interface Proof {
  /** What is wrong, as sentences. */
  readonly troubles: readonly string[];
  /** Figures for the reader. */
  readonly notes: readonly string[];
}

/** A promise that a strike found broken: its message is the violation. */
export class Broken extends Error {}

/** Resolves after a time, or at once when the signal is aborted. */
export async function lasts(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, null, { signal }).catch(() => undefined);
}

/** Resolves when it is so, when the time is up, or when the signal is aborted. */
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
