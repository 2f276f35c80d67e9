// A request that is made again until it succeeds: what an application makes of a client's errors.
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '@ringwright/base/coded-error';

/** A quorum of local servers answers in milliseconds: then it will not any more. */
const WHOLE_MS_MAX = 30_000;
const PAUSE_MS = 10;

interface Tried<Answer> {
  readonly answer: Answer;
  /** Attempts before the one that succeeded. */
  readonly failed: number;
  /** Whether one of those took effect, or may still take it. */
  readonly isUnsure: boolean;
}

/** Throws what the last attempt threw: after 30 s, or when every other one would fail like it. */
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
