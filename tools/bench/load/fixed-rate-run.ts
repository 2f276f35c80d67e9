// A load that runs while something else happens: starts it, asks for its figures, ends it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { LoadFigures } from '../peers/redis-benchmark.ts';

export interface LoadSpec {
  readonly addresses: readonly string[];
  /** Calls per second; null: as many as are answered. */
  readonly perSecond: number | null;
  readonly inFlight: number;
  readonly keys: number;
  readonly valueBytes: number;
  readonly seed: number;
}

/** Figures since the last request for them. */
export interface FixedRateFigures extends LoadFigures {
  /** The 99th percentile of each second. */
  readonly secondsP99Ms: readonly number[];
  /** The 99th percentile of the median second, which a few bad seconds do not affect. */
  readonly usualP99Ms: number;
  /** Failed calls; each was repeated until it succeeded. */
  readonly errors: number;
  readonly lastError: string;
  /** Longest time from when a write was due until it succeeded. */
  readonly longestPutMs: number;
  readonly longestGetMs: number;
}

interface FixedRateLoad extends Disposable {
  readonly figures: () => Promise<FixedRateFigures>;
}

export async function startFixedRateLoad(spec: LoadSpec): Promise<FixedRateLoad> {
  const program = path.join(import.meta.dirname, '../fixed-rate-load.ts');
  const child = fork(program, [JSON.stringify(spec)]);
  const exited = once(child, 'exit').then(() => {
    throw new Error('the load ended by itself');
  });
  exited.catch(() => undefined); // reported to the caller of `figures`
  const answer = async (): Promise<unknown> => {
    const [message] = (await Promise.race([once(child, 'message'), exited])) as [unknown];
    return message;
  };
  await answer();
  return {
    figures: () => {
      const answered = answer();
      child.send('mark');
      return answered as Promise<FixedRateFigures>; // sent by fixed-rate-load.ts
    },
    [Symbol.dispose]: () => child.disconnect(),
  };
}
