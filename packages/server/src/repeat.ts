// Repeats work, with a pause between the runs; and reads a file in this way.
import { setTimeout } from 'node:timers/promises';
import { tlsBundlePollMs } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import type { Logger } from 'pino';

/** The function returned ends it and waits for the run under way. */
export function repeat(work: () => Promise<void>, pauseMs: number): () => Promise<void> {
  const end = new AbortController();
  const { signal } = end;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await work();
      await setTimeout(pauseMs, null, { signal }).catch(() => undefined); // woken by the end
    }
  };
  const running = loop();
  return async () => {
    end.abort();
    await running;
  };
}

/**
 * `read` is to do nothing where it finds what it found before. A file that it refuses is told of
 * once, with `kept`: what stays in force. The function returned ends it.
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
