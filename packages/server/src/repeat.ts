// Repeats work with a pause between the runs, and polls a file in this way.
import { setTimeout } from 'node:timers/promises';
import { tlsBundlePollMs } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import type { Logger } from 'pino';

/** Returns a function that ends the repetition and waits for the run under way. */
export function repeat(work: () => Promise<void>, pauseMs: number): () => Promise<void> {
  const end = new AbortController();
  const { signal } = end;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await work();
      await setTimeout(pauseMs, null, { signal }).catch(() => undefined); // the abort ends it early
    }
  };
  const running = loop();
  return async () => {
    end.abort();
    await running;
  };
}

/**
 * Polls a file with `read`, which must do nothing when the content is unchanged. When `read` fails,
 * the error is logged once, with `failureMessage`, which says what stays in force. Returns a
 * function that ends the polling.
 */
export function followFile(
  file: string,
  { read, failureMessage, log }: { read: () => Promise<void>; failureMessage: string; log: Logger },
): () => Promise<void> {
  let lastReason = '';
  return repeat(async () => {
    try {
      await read();
      lastReason = '';
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== lastReason) log.warn({ file, error }, failureMessage);
      lastReason = reason;
    }
  }, tlsBundlePollMs);
}
