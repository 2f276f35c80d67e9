// A file that is read again and again, until its content is another one.
import { tlsBundlePollMs } from '@ringwright/base/limits-rings';
import type { Logger } from 'pino';
import { repeat } from './repeat.ts';

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
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== refusedBefore) log.warn({ file, error }, kept);
      refusedBefore = reason;
    }
  }, tlsBundlePollMs);
}
