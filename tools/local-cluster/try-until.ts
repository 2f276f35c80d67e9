// Retries a request until it succeeds, as an application does by the outcome in a client's errors.
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';

/** A quorum of local servers answers in milliseconds. After this time it never will. */
const WHOLE_MS_MAX = 30_000;
const PAUSE_MS = 10;

interface Tried<Answer> {
  readonly answer: Answer;
  /** Attempts before the successful one. */
  readonly failed: number;
  /** Whether a failed attempt took effect, or still may. */
  readonly isUnsure: boolean;
}

/**
 * Throws the error of the last attempt: after 30 s, or if every further attempt would fail alike.
 */
export async function tryUntil<Answer>(attempt: () => Promise<Answer>): Promise<Tried<Answer>> {
  const lastMs = performance.now() + WHOLE_MS_MAX;
  let [failed, isUnsure] = [0, false];
  for (;;) {
    try {
      return { answer: await attempt(), failed, isUnsure };
    } catch (error) {
      if (!(error instanceof CodedError) || isFinal(error) || performance.now() > lastMs)
        throw error;
      failed += 1;
      isUnsure ||= error.outcome !== 'not-done';
    }
    await delay(PAUSE_MS);
  }
}

function isFinal({ retry, outcome }: CodedError): boolean {
  return retry === 'never' && outcome === 'not-done';
}
