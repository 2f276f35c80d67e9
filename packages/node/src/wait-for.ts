// Waits for a condition outside this process, with a deadline; the failure shows the last value
// seen.
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 15;
/** Far above what a busy machine of two cores needs: reaching it is a failure, not slowness. */
const DEADLINE_MS = 30_000;

interface Wait<Answer> {
  readonly ask: () => Answer | Promise<Answer>;
  readonly until: (answer: Awaited<Answer>) => boolean;
  readonly deadlineMs?: number;
  /** Makes the error to throw at the deadline. */
  readonly failure?: (sentence: string) => Error;
}

function tooLong(sentence: string): Error {
  return new Error(sentence);
}

/** Resolves to the first answer that satisfies `until`. An `ask` that throws counts as not yet. */
export async function waitFor<Answer>(
  what: string,
  { ask, until, deadlineMs = DEADLINE_MS, failure = tooLong }: Wait<Answer>,
): Promise<Awaited<Answer>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    let seen: unknown;
    try {
      const answer = await ask();
      if (until(answer)) return answer;
      seen = JSON.stringify(answer);
    } catch (error) {
      seen = error;
    }
    if (performance.now() > deadline) {
      throw failure(`waited ${deadlineMs / 1_000} s for ${what}; last seen: ${String(seen)}`);
    }
    await delay(POLL_MS);
  }
}
