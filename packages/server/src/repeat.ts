// Repeats work with a pause between the runs, for one thing or for each of many, and polls a file.
import { setTimeout } from 'node:timers/promises';
import { tlsBundlePollMs } from '@ringwright/base/limits-rings';
import { messageOf } from '@ringwright/base/thrown';
import type { Logger } from 'pino';

/**
 * Returns a function that ends the repetition and waits for the run under way. The signal tells a
 * long run that it should end.
 */
export function repeat(
  work: (signal: AbortSignal) => Promise<void>,
  pauseMs: number,
): () => Promise<void> {
  const end = new AbortController();
  const { signal } = end;
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      await work(signal);
      await setTimeout(pauseMs, null, { signal }).catch(() => undefined); // the abort ends it early
    }
  };
  const running = loop();
  return async () => {
    end.abort();
    await running;
  };
}

interface Repeated<Item> {
  readonly nameOf: (item: Item) => string;
  readonly work: (item: Item) => Promise<void>;
  /** Runs under way at the same time, each of another item. */
  readonly atOnce: number;
  readonly pauseMs: number;
}

/**
 * Repeats work for each of the items that `list` returns at the time. An item whose last run has
 * not ended is left out, so that one that takes long does not delay the others. Returns a function
 * that ends the repetition and waits for the runs under way.
 */
export function repeatEach<Item>(
  list: () => readonly Item[],
  { nameOf, work, atOnce, pauseMs }: Repeated<Item>,
): () => Promise<void> {
  const runs = new Map<string, Promise<void>>();
  const end = repeat(async () => {
    for (const item of list()) {
      const name = nameOf(item);
      if (runs.has(name)) continue;
      if (runs.size >= atOnce) await Promise.race(runs.values());
      const run = work(item).finally(() => runs.delete(name));
      runs.set(name, run);
    }
  }, pauseMs);
  return async () => {
    await end();
    await Promise.all(runs.values());
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
