// Repeats work, with a pause between the runs; and reads a file in this way.
import { tlsBundlePollMs } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import type { Logger } from 'pino';

/** The function returned ends it and waits for the run under way. */
export function repeat(work: () => Promise<void>, pauseMs: number): () => Promise<void> {
  let ended = false;
  let wake: () => void = () => undefined;
  const loop = async (): Promise<void> => {
    while (!ended) {
      await work();
      if (ended) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const running = loop();
  return async () => {
    ended = true;
    wake();
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
