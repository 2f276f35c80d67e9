// Resolves the names of servers, for all connections of this process. Node resolves two names at
// once, half of libuv's four threads. A name whose resolver does not answer takes ten seconds.
import { type LookupOptions, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { monotonicMs } from '../system-clock.ts';

/** A name that took longer is slow: from then on, slow names are resolved one after the other. */
export const slowLookupMs = 1_000;

type Answer = Parameters<LookupFunction>[2];
type Resolve = (name: string, options: LookupOptions, answer: Answer) => void;

/** For the option `lookup` of connections. */
export const lookUp: LookupFunction = fairLookUp(lookup, monotonicMs);

/**
 * Resolves each name once at a time, however often it is requested meanwhile, and leaves room
 * beside the slow names.
 */
export function fairLookUp(resolve: Resolve, nowMs: () => number): LookupFunction {
  const answersByKey = new Map<string, Answer[]>();
  const slowKeys = new Set<string>();
  const waiting: (() => void)[] = [];
  let isSlowRunning = false;
  const start = (key: string, name: string, options: LookupOptions): void => {
    const isSlow = slowKeys.has(key);
    if (isSlow && isSlowRunning) {
      waiting.push(() => start(key, name, options));
      return;
    }
    isSlowRunning ||= isSlow;
    const startedMs = nowMs();
    resolve(name, options, (error, address, family) => {
      if (nowMs() - startedMs > slowLookupMs) slowKeys.add(key);
      else slowKeys.delete(key);
      const answers = answersByKey.get(key) ?? [];
      answersByKey.delete(key);
      for (const answer of answers) answer(error, address, family);
      if (!isSlow) return;
      isSlowRunning = false;
      waiting.shift()?.();
    });
  };
  return (name, options, answer) => {
    const key = `${name} ${JSON.stringify(options)}`;
    const answers = answersByKey.get(key);
    if (answers !== undefined) {
      answers.push(answer);
      return;
    }
    answersByKey.set(key, [answer]);
    start(key, name, options);
  };
}
