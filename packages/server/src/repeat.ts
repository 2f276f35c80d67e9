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
 * the error is logged once, with `kept`, which says what stays in force. Returns a function that
 * ends the polling.
 */
export function followFile(
  file: string,
  { read, kept, log }: { read: () => Promise<void>; kept: string; log: Logger },
): () => Promise<void> {
  let refusedBefore = '';
  return repeat(async () => {
    try {
      await read();
      refusedBefore = '';
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== refusedBefore) log.warn({ file, error }, kept);
      refusedBefore = reason;
    }
  }, tlsBundlePollMs);
}
