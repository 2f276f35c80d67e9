// Waits for a condition of the world, with a deadline; the failure tells what was seen last.
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 15;
/** Far above what a busy machine of two cores needs: reaching it is a failure, not slowness. */
const DEADLINE_MS = 30_000;

interface Wait<Answer> {
  readonly ask: () => Answer | Promise<Answer>;
  readonly until: (answer: Awaited<Answer>) => boolean;
  readonly deadlineMs?: number;
  /** What to throw at the deadline. */
  readonly failure?: (sentence: string) => Error;
}

function tooLong(sentence: string): Error {
  return new Error(sentence);
}

/** The first answer that is the one waited for. An `ask` that throws counts as not yet. */
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
