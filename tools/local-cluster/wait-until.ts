// Waits for a condition, with a deadline and a name for what did not come.
import { setTimeout as delay } from 'node:timers/promises';
import { failure } from './failure.ts';

const POLL_MS = 20;

export interface Wait {
  /** Completes the sentence "waited N s for …". */
  readonly what: string;
  readonly deadlineMs: number;
}

/** Resolves once `condition` holds. Throws LOCAL_CLUSTER_FAILED after `deadlineMs`. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { what, deadlineMs }: Wait,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) {
      throw failure(`waited ${deadlineMs / 1000} s for ${what}`);
    }
    await delay(POLL_MS);
  }
}
